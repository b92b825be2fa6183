/** The messages of the payment pages in English; their type defines the keys that every language must have. */
import type { MethodGroup, MethodKind, NamelessKind, WalletKind } from '../../rules/method-kinds.ts';
import type { PayerCause, ReasonName } from '../../rules/reasons.ts';

/** The plural forms of a message, by CLDR category. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** Cards have a message of their own; wallets and other well-known methods have names. */
type MethodMessages = Record<
  Exclude<MethodKind, 'card' | WalletKind | NamelessKind> | `group${Capitalize<MethodGroup>}` | 'moreMethods',
  string
>;

export const en = {
  yourOrder: 'Your order',
  order: 'Order',
  orderNumber: 'Order {order}',
  amount: 'Amount',
  timeLeft: 'Time left: {time}',
  lastMinute: 'Less than a minute left.',
  wholeText: 'Full description',

  howToPay: 'How do you want to pay?',
  card: 'Card',
  payWith: 'Pay with {method}',
  otherWays: 'Choose another way to pay',
  cancel: 'Cancel and go back',
  backTo: 'Back to {merchant}',
  or: 'or',
  walletMissing:
    'This way to pay is not available in this browser. Open this page on a device on which your wallet is set up, or go back to the shop.',
  walletFailed: 'The wallet could not be used, and nothing was paid. You can try again, or pay in another way.',

  payByCard: 'Pay by card',
  cardNumber: 'Card number',
  cardExpiry: 'Expiry (MM/YY)',
  cardCvv: 'Security code',
  cardCvvHint: '3 digits on the back of the card, or 4 on its front',
  cardHolder: 'Name on the card',
  cardSafe: 'Your card details are encrypted. The shop never sees them.',
  savedCards: 'Your saved cards',
  savedCard: '{network} ending in {digits}',
  savedUntil: 'Valid until {date}',
  savedExpired: 'Expired',
  anotherCard: 'Another card',
  pay: 'Pay {amount}',
  paying: 'Paying…',
  next: 'Continue',
  repeated: 'Repeated payments',
  repeatedHow: '{merchant} may charge this payment method again. To stop this, contact {merchant}.',
  repeatedOpenHow:
    '{merchant} may charge this payment method again, for amounts and at times that you have agreed with {merchant}. To stop this, contact {merchant}.',
  interval: 'Interval',
  charges: 'Number of charges',
  firstCharge: 'First charge',
  agree: 'I agree that {merchant} charges me again as described here.',
  agreeFirst: 'Please agree before you continue.',
  debitMandate:
    'By continuing, you authorise {merchant} to instruct your bank to debit your account, and your bank to debit your account accordingly. You can claim a refund from your bank, under the terms of your agreement with it, within eight weeks of the debit.',
  oneMoment: 'One moment…',

  complete: 'Complete your payment',
  details: 'A few more details',
  choose: 'Please choose',
  checkDetails: 'Please check your details',
  checkMarked: {
    one: 'Please check the marked field. Nothing was paid.',
    other: 'Please check the {count} marked fields. Nothing was paid.',
  } as Plural,
  fillIn: 'Please fill this in.',
  looksWrong: 'This does not look right. Please check it.',
  ibanHere: 'This is an IBAN. Please fill in the SWIFT code (BIC) of your bank here.',
  notAChoice: 'This cannot be used here. Please check it.',
  notUrl: 'Please fill in the whole web address, starting with https://.',
  spaces: 'Please leave out the spaces.',
  tooLong: 'This is too long. Maximum number of characters: {count}',
  tooShort: 'This is too short. Minimum number of characters: {count}',
  cardProblems: {
    number: 'This card number does not look right. Please check it.',
    noNumber: 'Please fill in the card number.',
    expiry: 'Please fill in the date as it is on the card, such as 05/30.',
    expired: 'This card has expired.',
    cvv: 'Please fill in the 3 or 4 digits of the security code.',
    holder: 'Please fill in the name on the card.',
    saved: 'This card cannot be used any more. Please choose another one.',
  },

  declined: 'The payment was declined',
  noMoney: 'No money was taken.',
  tryAgain: 'You can try again, or pay in another way.',
  tryCard: 'You can try again, or use another card.',
  trySame: 'You can try again.',

  confirmAtBank: 'Confirm with your bank',
  confirmWhy: 'Your bank wants to make sure that it is really you. You will come back here afterwards.',
  goToBank: 'Go to my bank',
  oneMoreStep: 'One more step',
  payAtProvider: 'You will pay on the page of your payment provider.',
  goingBack: 'You are going back to {merchant} now.',
  goingBackSoon: 'You will go back to {merchant} in a few seconds.',

  scanToPay: 'Scan to pay',
  scanHow: 'Open your banking app and scan this code.',
  codeAlt: 'QR code of this payment',
  codeLeft: 'The code is valid for {time}',
  codeOver: 'The code has expired',
  codeOverHow:
    'If you have scanned it and paid, wait a moment: this page updates by itself. If not, go back and try again.',
  waiting: 'Waiting for your payment',
  waitingHow: 'Finish the payment in the app or on the page of your payment provider. This page updates by itself.',
  checking: 'We are checking your payment',
  checkingHow: 'The bank is taking longer than usual to answer. Please do not pay again: this page updates by itself.',
  checkingClose: 'You can close this page: the payment continues without it, and {merchant} learns the outcome.',
  transfer: 'Make the transfer',
  sendExactly: 'Send exactly {amount} from your bank account to:',
  payVoucher: 'Pay with these details',
  payExactly: 'Pay exactly {amount} with the details below. The order continues as soon as your payment arrives.',
  copy: 'Copy',
  copied: 'Copied',
  unfinished: 'Your payment is not finished yet',
  unfinishedHow:
    'If you have just paid, wait a moment: this page updates by itself. If not, carry on where you left off.',
  openAgain: 'Open the payment page again',

  paid: 'Payment complete',
  notPaid: 'Payment not completed',
  notPaidHow: 'No money was taken. You can go back and try again.',
  failedHow: 'The payment did not reach the provider, and no money was taken. You can go back and try again.',
  expired: 'The time to pay is over',
  expiredHow: 'This payment was not made in time. You can go back and start again.',
  cancelled: 'Payment cancelled',
  cancelledHow: 'This payment was cancelled or refunded.',
  noWay: 'This payment cannot be made here',
  noWayHow: 'No way to pay is available for this order. Please go back and ask the shop.',
  unknown: 'This link does not work',
  unknownHow: 'It may be incomplete. Open it again from the shop, or ask the shop for a new one.',
  trouble: 'We cannot show this page at the moment',
  troubleHow: 'Your payment is kept safe. Please load the page again in a moment.',
  foreign: 'This did not come from our page',
  foreignHow: 'For your safety nothing was paid. Open the payment page and press the button there.',
  cardsSpent: 'No more cards can be tried for this order',
  cardsSpentHow: 'This card was not used, and no money was taken.',
  cardsPaused: 'No card can be tried at the moment',
  cardsPausedHow: 'Too many cards were tried. This one was not used, and no money was taken. Time to wait: {time}',
  tooFast: 'That was too fast',
  tooFastHow: 'Nothing was paid. Please wait a moment and try again.',

  /** What the payer reads if the script of the page got no answer. */
  sending: {
    lost: 'We got no answer. Please check your connection. We are finding out whether your payment has arrived. Your details stay here, and you will not be charged twice.',
    again: 'Your payment has not arrived. Please try again: you will not be charged twice.',
  },
  /** The instructions for a transfer, by the names that providers use. */
  instructions: {
    account_number: 'Account number',
    account_holder: 'Account holder',
    bank_name: 'Bank',
    bank_code: 'Bank code',
    iban: 'IBAN',
    bic: 'BIC',
    reference: 'Reference',
    entity: 'Entity',
    expires: 'Pay by',
    voucher: 'Voucher',
  },
  /** The decline reasons of the gateway itself, by name. */
  reasons: {
    outOfTime: 'The time to pay ran out.',
    neverReceived: 'The payment did not reach the provider.',
    bankRejected: 'Your bank rejected the payment.',
    bankSaidNo: 'Your bank rejected the payment.',
    notConfirmed: 'Your bank could not confirm that it was you.',
    providerSaidNo: 'The provider declined the payment.',
    testDecline: 'Declined by the test connector.',
  } satisfies Record<ReasonName, string>,
  /** Translations of field labels and hints, by their English text in the field tables. */
  fieldLabels: {} as Readonly<Record<string, string>>,
  /** Payment methods by their kind, and the headings of their groups. */
  methods: {
    test: 'Test payment',
    onlineBanking: 'Online banking',
    bank: 'Bank transfer',
    directDebit: 'SEPA direct debit',
    qr: 'Banking app with QR code',
    upi: 'UPI app',
    mobileMoney: 'Mobile money',
    payLater: 'Buy now, pay later',
    voucher: 'Prepaid voucher',
    phoneBill: 'Phone bill',
    personalId: 'Payment with personal ID',
    local: 'Local payment method',
    coins: 'Bitcoin, Ether or stablecoin',
    crypto: 'Cryptocurrency',
    otherCurrency: 'Payment in another currency',
    providerPage: 'Other methods on the provider’s page',
    deposit: 'Deposit to a trading account',
    payout: 'Payout',
    personPayout: 'Payout to a person',
    cryptoPayout: 'Payout in cryptocurrency',
    withdrawal: 'Withdrawal to a crypto wallet',
    groupCards: 'Cards and wallets',
    groupBank: 'Bank account',
    groupApp: 'App or QR code',
    groupLater: 'Pay later',
    groupMore: 'Other methods',
    moreMethods: 'More ways to pay',
  } satisfies MethodMessages,
  /** The card form; then, by the cause of a decline, what the payer reads about it and can do. */
  cardForm: {
    accepted: 'Accepted cards',
    notAccepted: '{network} is not accepted here. Please use another card.',
    code3: '3 digits on the back of the card',
    code4: '4 digits on the front of the card',
    wrongCode: 'Please fill in the {count} digits of the security code.',
    save: 'Save this card for my next payments to {merchant}',
    saved: 'This card is saved for your next payments to {merchant}.',
    saveHow:
      'The number, the expiry date and the name are stored encrypted; the security code is not stored. To have the card removed, contact {merchant}.',
    insufficientFunds: 'There is not enough money on this card or account. Use another card or another way to pay.',
    limitExceeded:
      'The payment is above a limit of your card or account. Ask your bank, or use another card or another way to pay.',
    expiredCard: 'The card has expired. Check the date, or use another card.',
    invalidCard: 'The card number or the date is not valid. Check both, or use another card.',
    wrongSecurityCode: 'The security code is wrong. Check it and enter it again.',
    notPermitted:
      'Your card or account does not allow this payment. Ask your bank, or use another card or another way to pay.',
    notAuthenticated: 'Your bank could not confirm that it was you. Try again, or use another card.',
    cancelledByPayer: 'You cancelled the payment. You can try again, or pay in another way.',
    refusedByBank: 'Your bank refused the payment. Ask your bank, or use another card.',
    bankUnavailable: 'Your bank could not be reached. Try again in a few minutes, or use another card.',
    providerRefused: 'The payment was refused. Use another card or another way to pay.',
  } satisfies Record<PayerCause, string> & Record<string, string>,
  /** The 3-D Secure challenge in a dialog, and leaving an attempt. */
  challenge: {
    frame: 'The page of your bank',
    close: 'Close',
    openBank: 'Open the bank’s page',
    anotherCard: 'Use another card',
    left: 'You stopped the last payment, and nothing was charged. You can pay in another way now.',
    stillOpen:
      'The bank has not answered yet, so the payment could still go through. Wait a moment, then try again. You will not be charged twice.',
  },
  /** The QR code on phones and desktops. */
  scan: {
    openApp: 'Open in your banking app',
    save: 'Save the image',
    share: 'Share',
    text: 'Code as text',
    again: 'Get a new code',
    overHow: 'If you have scanned it and paid, wait a moment: this page updates by itself. If not, get a new code.',
    confirm: 'Confirm the payment. This page updates by itself.',
    onPhone1: 'Save or share the image of the code.',
    onPhone2: 'Open your banking app, and let it scan the code from the image.',
    onPhone3: 'Confirm the payment, then come back here.',
    inApp: 'Open your banking app with the button above.',
  },
  /** The header and the footer of every page. */
  frame: {
    testMode: 'Test mode',
    testNote: 'No real money moves.',
    questions: 'Questions about your order?',
    helpPage: 'Help page',
    terms: 'Terms',
    privacy: 'Privacy',
    language: 'Language',
  },
  /** What the order consists of. */
  orderLines: {
    items: 'Items ({count})',
    subtotal: 'Subtotal',
    shipping: 'Shipping',
    tax: 'Tax',
    discount: 'Discount',
    total: 'Total',
  },
  /** The receipt, on the page and by e-mail. */
  receipt: {
    title: 'Receipt',
    link: 'Show the receipt',
    print: 'Print',
    merchant: 'Merchant',
    date: 'Date',
    method: 'Payment method',
    reference: 'Reference',
    charged: 'Amount charged',
    refunded: 'Refunded',
    reservedHow: 'The amount is reserved and will be charged later.',
    email: 'E-mail address for the receipt (optional)',
    subject: 'Receipt from {merchant} for order {order}',
    thanks: 'Thank you. {merchant} has received your payment.',
  },
  /** The page of a link, and what its payer is asked for. */
  link: {
    usedUp: 'This was paid already',
    usedUpHow: 'It cannot be paid again. If you have questions, contact {merchant}.',
    over: 'This link is no longer valid',
    overHow: 'Ask {merchant} for a new one.',
    busy: 'Somebody is paying this at the moment',
    busyHow: 'Try again in a few minutes.',
    between: 'From {least} to {most}',
    name: 'Name',
    email: 'E-mail address',
    phone: 'Phone number',
  },
  /** The page of an invoice, and its e-mail. */
  invoice: {
    title: 'Invoice {number}',
    due: 'Due date',
    overdue: 'Overdue',
    to: 'Bill to',
    quantity: 'Quantity',
    price: 'Unit price',
    paid: 'This invoice is paid.',
    void: 'This invoice was cancelled. Please do not pay it.',
    subject: 'Invoice {number} from {merchant}',
    mail: 'Please pay {amount} by {date}. You can see the invoice and pay it here:',
    reminder: 'Reminder: invoice {number} is due on {date}',
    overdueSubject: 'Invoice {number} is overdue',
    overdueMail: 'We have not received {amount} yet, which was due on {date}. You can see the invoice and pay it here:',
  },
  /** The page on which payers see and remove the cards and subscriptions that a shop has saved, and its e-mail. */
  customer: {
    title: 'Your saved cards and subscriptions',
    ask: 'Enter the e-mail address that you use at {merchant}. You get a link with which you see what is saved, and can remove it.',
    send: 'Send the link',
    sent: 'Check your e-mail',
    sentHow: 'If {merchant} knows this address, a link is on its way. It works once, for one hour.',
    open: 'Show cards and subscriptions',
    again: 'Get a new link',
    mail: 'With this link you can see and remove the cards and subscriptions that {merchant} has saved for you. It works once, for one hour. If you did not ask for it, ignore this e-mail.',
    subscriptions: 'Your subscriptions',
    nothing: 'Nothing is saved.',
    next: 'Next payment on {date}',
    remove: 'Remove card',
    removeHow: '{merchant} can no longer charge this card. Subscriptions that are paid with it end.',
    end: 'Cancel subscription',
    endHow: 'There are no further payments.',
    removed: 'The card was removed.',
    ended: 'The subscription was cancelled.',
    inUse: 'A payment with this card is under way. Try again later.',
  },
  /** The page on which the staff of a shop enters the card of a caller. */
  telephone: {
    title: 'Telephone order',
    how: 'Enter the card of the customer who is on the phone. Do not write the number down.',
  },
};

type Translated<Value> = Value extends string
  ? string
  : Value extends Plural
    ? Plural
    : { readonly [Key in keyof Value]: string };

/** The messages of a language; a missing key does not compile. */
export type Messages = { readonly [Key in keyof typeof en]: Translated<(typeof en)[Key]> };
