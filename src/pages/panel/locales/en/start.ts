/** The texts of the start page of the sandbox in English. */

/** The page at an address that does not exist. */
export const unknownPage = {
  title: 'There is nothing at this address',
  ways: 'Where to go from here',
  start: 'Start page',
};

export const start = {
  title: 'Your payment sandbox is running',
  lead: 'No real money moves here: every provider is simulated.',
  tryTitle: 'See what your payers see',
  tryHint: 'Open the payment page of the demo shop, choose Card, and pay 19.99 EUR with a test card and any name.',
  tryButton: 'Make a test payment',
  cards: 'What test cards do',
  cardNumber: 'Card number',
  cardNumberHint: 'with any security code; the expiry decides the outcome',
  cardOutcomes: [
    ['01/38', 'The payment succeeds'],
    ['02/38', 'The card is declined'],
    ['05/38', 'The bank asks for a code: 1234'],
  ],
  moreCards: 'All test cards',
  paid: 'The test payment succeeded.',
  seePayment: 'See it in the panel',
  curlTitle: 'Pay from your terminal',
  curlHint: 'A signed request with the keys of the demo shop. It works once; reload the page for the next one.',
  keys: 'Keys of the demo shop',
  keysHint: 'For your first requests. They work in this sandbox only.',
  callbackSecret: 'callback secret',
  callbacksTitle: 'Watch the callbacks',
  callbacksHint:
    'Callbacks report every event to your server. This shows them in a terminal, until your server is ready:',
  next: 'Next steps',
  quickStart: 'Quick start',
  quickStartHint: 'from this page to a shop that takes payments',
  reference: 'API reference',
  referenceHint: 'every call with examples; also as a Postman collection',
  docs: 'Docs',
  docsHint: 'guides for merchants and operators, with search',
  panel: 'Panel',
  panelHint: 'payments, refunds, accounts, callbacks',
  simulator: 'Provider simulator',
  simulatorHint: 'the other side: decide what banks and providers answer',
  goingLive: 'Going live',
  goingLiveHint: 'what to set up before real money moves',
};
