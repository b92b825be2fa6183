/** What merchants are told of settlements, payouts and their bank accounts: by which channel, and what a callback signs. */

export const MESSAGE_CHANNELS = ['callback', 'mail'] as const;
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number];

export const MESSAGE_STATES = ['waiting', 'sent', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

export type MessageType = 'settlement' | 'payout' | 'bank_account';

/** The account setting that sends callbacks of a type. */
export const CALLBACK_SETTINGS = {
  settlement: 'settlement_callbacks',
  payout: 'payout_callbacks',
} as const satisfies Partial<Record<MessageType, string>>;

/** The account setting with the address of e-mails. */
export const MAIL_SETTING = 'billing.email';

/** What an e-mail tells of; callbacks tell of every state. */
const MAILED: readonly string[] = ['payout paid', 'payout returned', 'bank_account changed'];

export const channelsOf = (type: MessageType, status: string): MessageChannel[] => [
  ...(type === 'bank_account' ? [] : (['callback'] as const)),
  ...(MAILED.includes(`${type} ${status}`) ? (['mail'] as const) : []),
];

/** The fields that the hash of a callback covers, before the password. */
export const MESSAGE_HASH_FIELDS = {
  settlement: ['settlement_id', 'status', 'payout', 'currency'],
  payout: ['transfer_id', 'status', 'amount', 'currency'],
} as const;

/** How many messages one process sends at a time, and for how long it holds the ones that it sends. */
export const MESSAGES_AT_A_TIME = 16;
export const MESSAGE_LEASE_MS = 300_000;
