/** The texts of the erasure of personal data in English. */
export const erasure = {
  action: 'Erase personal data',
  title: 'Erase personal data',
  lead: 'The payer asked for it, or you no longer need the data. This cannot be undone.',
  lost: 'What is lost',
  losses: [
    'Name, e-mail address, phone, address, IP address, and everything else that identifies the payer',
    'The fields of the payment method, and the custom data of the merchant',
    'The saved card: its token no longer works, recurring sales are refused, and subscriptions that charge it end',
    'The bodies of the callbacks, the stored API calls, and the bodies of the provider’s notifications',
  ],
  stays: 'What stays',
  kept: [
    'Amounts, dates, states, the history, all ids, and the masked card: the payment can be refunded',
    'Evidence files of a chargeback, and the text that the payer agreed to, without the name',
    'Backups that were written before, and what the provider and the merchant have',
  ],
  scope: 'Payments to erase',
  order: 'All attempts of this order',
  payer: 'All payments of {email} in this account',
  confirm: 'Erase for good',
  partly: 'Erased. These payments are not finished and keep their data:',
  more: 'There are more payments of this payer: submit the form again.',
  erasedAt: 'Personal data erased',
  bodyErased: 'The body was erased.',
};
