/** The calls on the installation, and on one that was restored, in the OpenAPI document. */
import { NOTE_LENGTH } from '../../rules/attention.ts';
import { LIMITS } from '../../rules/limits.ts';
import { AT_PROVIDER } from '../../rules/restores.ts';
import { call, operatorRefusals } from './operator-call.ts';
import {
  answers,
  choice,
  date,
  described,
  flag,
  integer,
  type Json,
  jsonBody,
  listOf,
  object,
  orNull,
  ref,
  text,
  uuid,
} from './schema.ts';

const restore = {
  held: described(flag, 'Whether automatic charges and voids wait for the release.'),
  restored_at: described(orNull(date), 'Null if the installation was never restored.'),
  backup_at: described(orNull(date), 'The moment of the backup: later changes are not in the database.'),
  released_at: orNull(date),
  released_by: orNull(text),
  note: orNull(text),
};

const charge = object({
  mid: uuid,
  schedule_id: uuid,
  subscription_id: uuid,
  order_id: text,
  payment_id: described(uuid, 'The id that the charge has at the provider, or would get.'),
  amount: text,
  currency: text,
  planned_at: date,
  at_provider: described(
    choice(Object.values(AT_PROVIDER)),
    'What the provider says about it. `not_found`: it is charged after the release. `not_answered`: the provider is asked again, before anything is charged. `cannot_be_asked`: only the idempotency of the provider prevents a second charge. Any other value: it is not charged again.',
  ),
});

export const RESTORE_SCHEMAS: Readonly<Record<string, Json>> = { Restore: object(restore) };

export const RESTORE_PATHS: Readonly<Record<string, Json>> = {
  '/admin/api/installation': {
    get: call('installation', 'readInstallation', 'Returns the version, the database and the background work.', {
      responses: {
        ...answers(
          'The installation.',
          object({
            version: text,
            environment: choice(['sandbox', 'production']),
            public_url: text,
            has_mail_server: flag,
            database: object({ version: text, size_bytes: integer, migration: described(text, 'The last one.') }),
            projections: listOf(
              object({
                name: text,
                seconds_behind: described(integer, 'The age of the oldest row of the log that is not folded.'),
                backfilled: described(
                  orNull({ type: 'number' }),
                  'The part of a build that is done; null when there is none.',
                ),
              }),
            ),
          }),
        ),
        ...operatorRefusals(),
      },
    }),
  },
  '/admin/api/restore': {
    get: call('restore', 'readRestore', 'Returns whether a backup was restored, and what may differ since.', {
      responses: {
        ...answers(
          'The newest restore; null values if there was none.',
          object({
            ...restore,
            charges: described(
              orNull(
                object({
                  due: described(integer, 'The scheduled charges that wait for the release.'),
                  checked: described(listOf(charge), `The first ${LIMITS.restoreCheckedMost} of them.`),
                }),
              ),
              'While the restore is held, the provider is asked about them.',
            ),
            statements: described(
              orNull(
                listOf(
                  object({
                    reconciliation_id: uuid,
                    file_name: text,
                    from: date,
                    to: date,
                    missing_here: described(integer, 'The rows of payments that the gateway does not have.'),
                  }),
                ),
              ),
              'The newest reconciliations with statements about the time since the backup.',
            ),
            access: described(
              orNull(object({ api_tokens: integer, operators: integer, saved_cards: integer })),
              'What is active as at the moment of the backup, although it may have been revoked, suspended or removed since.',
            ),
          }),
        ),
        ...operatorRefusals(),
      },
    }),
  },
  '/admin/api/restore/release': {
    post: call('restore', 'releaseRestore', 'Releases what is held since a restore.', {
      requestBody: jsonBody(
        object({ note: described({ ...text, maxLength: NOTE_LENGTH }, 'What was checked; for the audit log.') }),
      ),
      responses: {
        ...answers('The restore, which is released.', ref('Restore')),
        ...operatorRefusals('invalidData', 'nothingHeld'),
      },
    }),
  },
};
