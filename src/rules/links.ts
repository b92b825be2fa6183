/** Payment links: their states, what their payers can be asked for, and the bounds of their members. */

export const LINK_STATES = ['active', 'used_up', 'expired', 'inactive'] as const;
export type LinkState = (typeof LINK_STATES)[number];

/** What a payer can be asked for before the payment, in the order of the form. */
export const ASKABLE = ['name', 'email', 'phone', 'reference'] as const;
export type Asked = (typeof ASKABLE)[number];

export const LINK_LIMITS = {
  title: 100,
  description: 1000,
  /** The most uses of a link that has a number of them. */
  uses: 1_000_000,
  methods: 50,
  orderPrefix: 32,
  /** What a payer types. */
  typed: 100,
} as const;

/** The members of a new link, in the order of the docs. */
export const LINK_MEMBERS = [
  'title',
  'currency',
  'amount',
  'min_amount',
  'max_amount',
  'description',
  'uses',
  'valid_until',
  'methods',
  'locale',
  'success_url',
  'ask',
  'authorise',
  'order_prefix',
] as const;
export type LinkMember = (typeof LINK_MEMBERS)[number];
