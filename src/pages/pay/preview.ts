/** A preview of the payment page for the panel: the real templates with a sample order, and nothing that can be used. */

import { SAMPLE_PARAMETERS } from '../../core/accounts/demo.ts';
import { acceptedNetworks } from '../../core/connections/route.ts';
import type { Account, Gateway, PaymentWithDetails } from '../../core/context.ts';
import { methodsFor } from '../../core/payments/choose.ts';
import { composePayment } from '../../core/payments/open.ts';
import { CARD, NO_BRAND_YET } from '../../rules/brands.ts';
import { LIMITS } from '../../rules/limits.ts';
import type { Scheme } from '../accent.ts';
import { document, pageHeaders } from '../layout.ts';
import { localeFor } from '../locale.ts';
import { sourceHash } from '../source-hash.ts';
import { accentStyle, STYLE } from '../style.ts';
import { payPage } from './choice.ts';
import { openMethod } from './method-groups.ts';
import { noMethodPage } from './result-pages.ts';
import type { PageView } from './view.ts';

export interface Preview {
  headers: Record<string, string>;
  document: string;
}

export interface PreviewOptions {
  scheme: Scheme;
  /** The choice of methods, or the card form. */
  page: 'choice' | 'card';
  acceptLanguage: string | undefined;
}

/** A payment that is not stored. */
function samplePayment(gateway: Gateway, account: Account, now: number): PaymentWithDetails {
  const paymentId = '00000000-0000-7000-8000-000000000000';
  const until = now + LIMITS.sessionMinutes * LIMITS.minuteMs;
  const parameters = SAMPLE_PARAMETERS.open;
  const session = { id: paymentId, until, successUrl: '', cancelUrl: '', payer: {}, methods: [], parameters };
  return composePayment(gateway, account, {
    protocol: 'checkout',
    brand: NO_BRAND_YET,
    paymentId,
    orderId: 'order-1042',
    amountText: '49.90',
    currency: 'EUR',
    isAuthorisation: false,
    isRecurringInit: false,
    payerUntil: until,
    details: { description: 'A pot of green tea and two cups', payer: {}, session },
    secrets: SAMPLE_PARAMETERS.secret,
    content: '',
  });
}

/** A style sheet for one colour scheme, whatever the browser prefers. */
const inScheme = (css: string, scheme: Scheme): string =>
  css
    .replaceAll('@media(prefers-color-scheme:dark)', scheme === 'dark' ? '@media all' : '@media not all')
    .replace('color-scheme:light dark', `color-scheme:${scheme}`);

/** Replaces directives of a content security policy. */
const withDirectives = (policy: string, directives: Readonly<Record<string, string>>): string =>
  [
    ...policy.split('; ').filter((directive) => !Object.hasOwn(directives, directive.split(' ', 1)[0] as string)),
    ...Object.entries(directives).map((pair) => pair.join(' ').trim()),
  ].join('; ');

/** Only a page of our own origin may frame it; scripts, forms and requests are off. */
function previewHeaders(gateway: Gateway, account: Account, scheme: Scheme): Record<string, string> {
  const { 'x-frame-options': _, ...headers } = pageHeaders(gateway, account);
  const colour = account.settings['branding.colour'];
  const styles = [STYLE, ...(colour ? [accentStyle(colour)] : [])].map((css) => sourceHash(inScheme(css, scheme)));
  return {
    ...headers,
    'x-frame-options': 'SAMEORIGIN',
    'content-security-policy': withDirectives(headers['content-security-policy'] as string, {
      'script-src': "'none'",
      'connect-src': "'none'",
      'style-src': styles.join(' '),
      'form-action': "'none'",
      'frame-ancestors': "'self'",
      sandbox: '',
    }),
  };
}

/** Renders the page that a payer of this account would see, with all of its settings. */
export function previewPage(gateway: Gateway, account: Account, options: PreviewOptions): Preview {
  const { scheme, acceptLanguage } = options;
  const now = gateway.clock.now(account.mid);
  const payment = samplePayment(gateway, account, now);
  const methods = methodsFor(gateway, payment, account);
  const locale = localeFor(account.settings.locale, acceptLanguage);
  const view: PageView = {
    payment,
    account,
    methods,
    savedCards: [],
    networks: acceptedNetworks(gateway, account, payment),
    wallets: [],
    locale,
    now,
    result: 'open',
    path: '',
    back: {},
    canLeave: false,
    canRenewCode: false,
    isStillOpen: false,
    marks: gateway.marks,
    cancel: '',
  };
  const method = openMethod(view, options.page === 'card' ? CARD : undefined);
  const page = method ? payPage(view, { method, answers: new Map(), problems: [] }) : noMethodPage(view);
  return {
    headers: previewHeaders(gateway, account, scheme),
    document: inScheme(
      document(gateway, { locale, account, isPreview: true }, { title: page.title, body: page.body }),
      scheme,
    ),
  };
}
