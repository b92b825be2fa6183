/** Submissions and operations to call a connector with directly. */
import type { CardData, ProviderOperation, Submission } from '../../src/connectors/connector.ts';
import { newId } from '../../src/lib/crypto/id.ts';
import { Secret } from '../../src/lib/crypto/secret.ts';

/** An address that looks valid; the doubles of providers do not accept it. */
export const REFUSED_EMAIL = 'asha@refused.example';

export const testCard = (number: string): CardData => ({
  number: new Secret(number),
  month: '12',
  year: '2038',
  holder: 'Asha Rao',
  cvv: new Secret('123'),
});

export const testSubmission = (changes: Partial<Submission> = {}): Submission => ({
  reference: newId(),
  state: {},
  secretState: {},
  isFirstOfSeries: false,
  isScheduled: false,
  openedAt: Date.now(),
  brand: 'pin-a',
  mid: '01a1dd00-0000-7000-8000-000000000001',
  merchantName: 'Demo Shop',
  isPayout: false,
  amount: 1000n,
  currency: 'EUR',
  authoriseOnly: false,
  description: 'Two teapots',
  descriptor: '',
  identifier: '',
  payer: { first_name: 'Asha', last_name: 'Rao', email: 'asha@example.com', country: 'DE', ip: '203.0.113.7' },
  parameters: () => ({}),
  methods: [],
  returnUrl: () => 'https://pay.example.com/return/1',
  notifyUrl: 'https://pay.example.com/inbound/upstream',
  setting: () => undefined,
  ...changes,
});

export const testOperation = (changes: Partial<ProviderOperation> = {}): ProviderOperation => ({
  verb: 'refund',
  reference: newId(),
  state: {},
  secretState: {},
  operation: newId(),
  amount: 1000n,
  brand: 'pin-a',
  currency: 'EUR',
  paymentAmount: 1000n,
  notifyUrl: 'https://pay.example.com/inbound/upstream',
  requestedAt: Date.now(),
  operationState: {},
  ...changes,
});
