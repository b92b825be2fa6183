/** E-mails to operators: an invitation, a link to a new password, or a notice. Each call tries once; the caller decides about more. */
import { newId } from '../../lib/crypto/id.ts';
import type { Gateway, MailContent, MailOutcome } from '../context.ts';

const SENDER = 'Turnpike';

/** Undefined if the installation has no mail server. */
export const sendOperatorMail = (
  { mailer }: Pick<Gateway, 'mailer'>,
  to: string,
  mail: MailContent,
  id = `operator-${newId()}`,
): Promise<MailOutcome> | undefined => mailer?.send({ id, date: new Date(), fromName: SENDER, to, ...mail });
