/** What an e-mail to an operator tells of a topic. */
import type { MarkedPayment } from '../../store/operators/notices.ts';

export interface FailingConnection {
  /** Null for the installation's own provider. */
  name: string | null;
  since: number;
}

interface NewChargeback {
  orderId: string;
  amount: bigint;
  currency: string;
  /** Null if the bank takes no answer. */
  respondBy: number | null;
}

interface Totals {
  payments: number;
  settled: number;
  declined: number;
  chargebacks: number;
  amounts: { currency: string; captured: bigint; refunded: bigint; chargedBack: bigint; net: bigint }[];
}

/** The newest facts, and whether there are more than are listed. */
interface Listed<Topic, Item> {
  topic: Topic;
  items: Item[];
  isMore: boolean;
}

export type NoticeFacts =
  | Listed<'chargebacks', NewChargeback>
  | Listed<'attention', MarkedPayment>
  | Listed<'connections', FailingConnection>
  | { topic: 'summary'; from: number; to: number; totals: Totals };
