/** The e-mails to operators: a few sentences, perhaps a list, and one link. */
import type { MailContent } from '../../../core/context.ts';
import { html } from '../../../lib/text/html.ts';
import { DEFAULT_FILL } from '../../frame.ts';
import { mailButton, mailPage, SOFT } from '../../mail-frame.ts';
import { fill } from '../frame/parts.ts';
import { languageTag, panelTexts } from '../locales/index.ts';

interface Letter {
  subject: string;
  lines: readonly string[];
  items?: readonly string[];
  button: string;
  link: string;
  after: string;
}

export const letter = ({ subject, lines, items = [], button, link, after }: Letter): MailContent => ({
  subject,
  text: [...lines, ...items.map((item) => `- ${item}`), '', link, '', after, ''].join('\n'),
  html: mailPage(
    { tag: languageTag(), subject },
    html`${lines.map((line) => html`<p style="margin:0 0 12px">${line}</p>`)}${
      items.length > 0 &&
      html`
<ul style="margin:0 0 12px;padding-left:20px">${items.map((item) => html`<li>${item}</li>`)}</ul>`
    }
${mailButton(link, button, { fill: DEFAULT_FILL, onFill: '#fff' })}
<p style="margin:20px 0 0;font-size:14px;${SOFT}">${after}</p>`,
  ),
});

export const invitationMail = (inviter: string, host: string, link: string): MailContent => {
  const text = panelTexts.mails.invitation;
  return letter({
    subject: fill(text.subject, { host }),
    lines: [fill(text.body, { inviter, host })],
    button: text.button,
    link,
    after: text.after,
  });
};

export const resetMail = (name: string, host: string, link: string): MailContent => {
  const text = panelTexts.mails.reset;
  return letter({
    subject: fill(text.subject, { host }),
    lines: [fill(text.body, { name, host })],
    button: text.button,
    link,
    after: text.after,
  });
};
