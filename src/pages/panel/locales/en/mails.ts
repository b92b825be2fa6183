/** The texts of e-mails to operators in English. */

export const mails = {
  invitation: {
    subject: 'Your invitation to the payments of {host}',
    body: '{inviter} invites you to the Turnpike panel of {host}. There you see payments, refund them and look after accounts.',
    button: 'Accept the invitation',
    after: 'The link works once and expires after some days. If you did not expect it, ignore this e-mail.',
  },
  reset: {
    subject: 'A new password for {host}',
    body: 'Hello {name}, somebody asked for a new password for your Turnpike panel at {host}. You also need a code of your authenticator app, or a recovery code.',
    button: 'Choose a new password',
    after: 'The link works once, for one hour. If it was not you, ignore this e-mail: your password stays as it is.',
  },
  notices: {
    chargebacks: {
      subject: 'New chargebacks at {host}',
      body: 'Banks have taken money back for these payments:',
      button: 'Open the chargebacks',
    },
    attention: {
      subject: 'Payments at {host} need attention',
      body: 'What happened to these payments does not fit, and a person has to decide:',
      button: 'Open the list',
    },
    connections: {
      subject: 'A provider of {host} does not answer',
      body: 'Calls to these providers fail; payments go to the other routes, if there are any:',
      button: 'Open the connections',
    },
    summary: {
      subject: 'The week at {host}',
      body: 'From {from} to {to}:',
      button: 'Open the reports',
    },
    answerBy: 'answer by {date}',
    noAnswer: 'no answer is possible',
    counts: '{payments} payments: {settled} paid, {declined} declined, {chargebacks} chargebacks',
    amounts: '{captured} captured, {refunded} refunded, {chargedBack} charged back, {net} net',
    more: 'and more',
    after: 'You chose these e-mails on the page “Your sign-in”, where you can end them.',
  },
  settlements: {
    paid: {
      subject: 'Payout of {amount} to {name}',
      body: 'The payout of {amount} for settlement {number} was paid to your bank account.',
      after: 'The panel shows the statement of the settlement.',
    },
    returned: {
      subject: 'Payout of {amount} to {name} was returned',
      body: 'The bank returned the payout of {amount} for settlement {number}. The amount is part of your balance again, and a later settlement pays it.',
      after: 'Please check with us whether your bank account is right.',
    },
    bankChanged: {
      subject: 'The bank account of {name} was changed',
      body: 'Payouts in {currency} go to another bank account from now on: {detail}. For 24 hours nothing is paid to it, unless a second person confirms the change.',
      after: 'If you did not expect this, tell us at once.',
    },
    reason: 'The bank gave this reason: {detail}',
    button: 'Open the panel',
  },
};
