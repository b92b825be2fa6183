/** The objects of Checkout.com's Payments API, as far as the connector uses them. */

export interface Processing {
  /** The code of the issuer and the advice of the network, as they sent them. */
  partner_response_code?: string;
  partner_merchant_advice_code?: string;
}

export interface Payment {
  id: string;
  status: string;
  reference?: string;
  amount?: number;
  currency?: string;
  response_code?: string;
  /** The id of the card network. */
  scheme_id?: string;
  source?: { id?: string };
  processing?: Processing;
  balances?: { total_captured?: number };
  /** The newest first; of queries only. */
  actions?: { id: string; type: string; response_code?: string }[];
  _links?: { redirect?: { href?: string } };
}

/** What was done with a payment. */
export interface Action {
  id: string;
  type: string;
  amount?: number;
  approved?: boolean;
  reference?: string;
}

export interface Accepted {
  action_id: string;
}

interface BillingAddress {
  address_line1?: string;
  city?: string;
  state?: string;
  zip?: string;
  country: string;
}

interface StoredFlags {
  stored?: boolean;
  store_for_future_use?: boolean;
  billing_address?: BillingAddress;
}

export type Source =
  | ({
      type: 'card';
      number: string;
      expiry_month: number;
      expiry_year: number;
      name?: string;
      cvv?: string;
    } & StoredFlags)
  | ({
      type: 'network_token';
      token: string;
      expiry_month: number;
      expiry_year: number;
      token_type: string;
      cryptogram: string;
      eci?: string;
    } & StoredFlags)
  | { type: 'id'; id: string };

export interface PaymentRequest {
  source: Source;
  amount: number;
  currency: string;
  payment_type: 'Regular' | 'Unscheduled' | 'MOTO';
  merchant_initiated?: boolean;
  previous_payment_id?: string;
  reference: string;
  description?: string;
  capture: boolean;
  customer?: { email: string; name?: string };
  billing_descriptor?: { name: string; city: string };
  '3ds'?: { enabled: boolean; attempt_n3d?: boolean; challenge_indicator?: string; exemption?: string };
  processing_channel_id: string;
  success_url?: string;
  failure_url?: string;
}
