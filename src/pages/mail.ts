/** A short e-mail of a shop to a payer: a sentence and an address to open. */
import { displayName } from '../core/accounts/accounts.ts';
import type { Account, Gateway, MailContent } from '../core/context.ts';
import { html } from '../lib/text/html.ts';
import type { Locale } from './locale.ts';
import { mailPage } from './mail-frame.ts';

export function shortMail(
  { environment }: Pick<Gateway, 'environment'>,
  account: Account,
  { tag, direction, messages }: Locale,
  { subject, sentence, url }: { subject: string; sentence: string; url: string },
): MailContent {
  const merchant = displayName(account);
  const test = environment === 'sandbox' && `${messages.frame.testMode}: ${messages.frame.testNote}`;
  return {
    subject: test ? `[${messages.frame.testMode}] ${subject}` : subject,
    text: [...(test ? [test, ''] : []), merchant, '', subject, '', sentence, url, ''].join('\n'),
    html: mailPage(
      { tag, direction, subject, test },
      html`<p style="margin:0;font-weight:650"><bdi>${merchant}</bdi></p>
<h1 style="margin:8px 0 0;font-size:20px">${subject}</h1>
<p>${sentence}</p>
<p><a href="${url}">${url}</a></p>`,
    ),
  };
}
