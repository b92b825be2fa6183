/** The e-mails to merchants: a payout was paid or returned, or the bank account was changed. */
import type { Account, MailContent } from '../../../core/context.ts';
import { panelUrl } from '../../../core/operators/panel-address.ts';
import type { MessageFacts, SettlementMessage } from '../../../core/settlements/messages.ts';
import { fill, money } from '../frame/parts.ts';
import { PATHS } from '../ledger/parts.ts';
import { inLanguage, panelTag, panelTexts } from '../locales/index.ts';
import { letter } from '../operators/mails.ts';

/** In the language of the account. */
export const settlementMail = (
  gateway: { publicUrl: string },
  { type, status, currency, settlementId, detail }: SettlementMessage,
  facts: MessageFacts | undefined,
  account: Account,
): MailContent =>
  inLanguage(panelTag(account.settings.locale, undefined), () => {
    const texts = panelTexts.mails.settlements;
    const text = type === 'bank_account' ? texts.bankChanged : status === 'returned' ? texts.returned : texts.paid;
    const values = {
      name: account.name,
      number: String(facts?.number ?? ''),
      amount: facts ? money(facts.payout, currency) : '',
      currency,
      detail: detail ?? '',
    };
    const isWithReason = status === 'returned' && detail !== null;
    return letter({
      subject: fill(text.subject, values),
      lines: [fill(text.body, values), ...(isWithReason ? [fill(texts.reason, values)] : [])],
      button: texts.button,
      link:
        panelUrl(gateway.publicUrl) + (settlementId === null ? PATHS.balances : `${PATHS.settlements}/${settlementId}`),
      after: text.after,
    });
  });
