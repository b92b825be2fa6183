/** The objects of PayPal's Orders API and Payments API (both version 2), as far as the connector uses them. */

export interface Money {
  currency_code: string;
  value: string;
}

export interface Link {
  href: string;
  rel: string;
}

interface Payment {
  id: string;
  status: string;
  amount?: Money;
  custom_id?: string;
}

export interface Authorization extends Payment {
  /** Set once it was captured, voided or denied. */
  processor_response?: { response_code?: string; payment_advice_code?: string };
}

export interface Capture extends Payment {
  status_details?: { reason?: string };
  seller_receivable_breakdown?: { paypal_fee?: Money };
  processor_response?: { response_code?: string; payment_advice_code?: string };
}

export type Refund = Payment;

export interface Order {
  id: string;
  status: string;
  links?: Link[];
  purchase_units?: {
    payments?: { authorizations?: Authorization[]; captures?: Capture[]; refunds?: Refund[] };
  }[];
  payment_source?: { paypal?: { attributes?: { vault?: { id?: string; status?: string } } } };
}

export interface PaymentSource {
  paypal: {
    vault_id?: string;
    email_address?: string;
    attributes?: {
      vault: { store_in_vault: 'ON_SUCCESS'; usage_type: 'MERCHANT'; permit_multiple_payment_tokens: boolean };
    };
    experience_context?: {
      brand_name?: string;
      shipping_preference: 'NO_SHIPPING';
      user_action: 'PAY_NOW';
      payment_method_preference: 'IMMEDIATE_PAYMENT_REQUIRED';
      return_url: string;
      cancel_url: string;
    };
  };
}

export interface OrderRequest {
  intent: 'CAPTURE' | 'AUTHORIZE';
  purchase_units: [
    { custom_id: string; invoice_id: string; description?: string; soft_descriptor?: string; amount: Money },
  ];
  payment_source?: PaymentSource;
}
