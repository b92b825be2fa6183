/** The texts of the start page of the sandbox in English. */

export const start = {
  title: 'Your payment sandbox is running',
  lead: 'No real money moves here: every provider is simulated.',
  tryTitle: 'See what your payers see',
  tryHint: 'Pay 19.99 EUR to the demo shop. The card 4111 1111 1111 1111 with any future date and any code succeeds.',
  tryButton: 'Make a test payment',
  paid: 'The test payment succeeded.',
  seePayment: 'See it in the panel',
  goOn: 'Go on',
  panel: 'Panel',
  panelHint: 'payments, accounts, callbacks',
  docs: 'Docs',
  docsHint: 'quick start, samples in seven languages, reference',
  api: 'OpenAPI document',
  apiHint: 'every call with its fields and errors',
  keys: 'Keys of the demo shop',
  keysHint: 'For your first requests. They work in this sandbox only.',
};
