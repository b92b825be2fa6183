/** What an installation creates once: its secret, its environment, its admin token. */
import { hash } from 'node:crypto';
import { createFingerprints, type Fingerprints } from '../../lib/crypto/fingerprints.ts';
import { newSecret } from '../../lib/crypto/id.ts';
import { boundTo, createSeal, newMasterKey } from '../../lib/crypto/seal.ts';
import { StartupError } from '../../lib/flow/startup-error.ts';
import type { Gateway } from '../context.ts';

const SECRET = 'secret';
const TOKEN = 'admin_token_digest';
const ENVIRONMENT = 'environment';

const digest = (token: string): Buffer => hash('sha256', token, 'buffer');

/** Decrypts the installation's secret for fingerprints, which never changes. Fails with a wrong master key. */
export async function openFingerprints({
  seal,
  installation,
}: Pick<Gateway, 'seal' | 'installation'>): Promise<Fingerprints> {
  const bound = boundTo('installation', 'value', SECRET);
  const sealed = await installation.writeOnce(SECRET, seal.seal(newMasterKey(), bound));
  try {
    return createFingerprints(createSeal(seal.open(sealed, bound)).derive);
  } catch {
    throw new StartupError(
      'The master key does not open the secrets of this database: set TURNPIKE_MASTER_KEY (or the file master.key in DATA_DIR) to the key it was made with.',
    );
  }
}

/** Refuses a sandbox on the database of a production installation, and the reverse: a sandbox can move its clock. */
export async function checkEnvironment({ environment, installation }: Gateway): Promise<void> {
  const kept = (await installation.writeOnce(ENVIRONMENT, Buffer.from(environment))).toString();
  if (kept === environment) return;
  throw new StartupError(
    `This database belongs to a ${kept} installation: set TURNPIKE_ENV=${kept}, or use another database for ${environment}.`,
  );
}

/** The digest of the admin token; a token that was generated is returned, too, to be displayed once. */
export async function adminToken(
  { installation }: Gateway,
  configured: string,
): Promise<{ digest: Buffer; made?: string }> {
  if (configured !== '') return { digest: digest(configured) };
  const made = newSecret(24);
  // If several processes start on a new database, the token of the first one is used by all.
  const kept = await installation.writeOnce(TOKEN, digest(made));
  return kept.equals(digest(made)) ? { digest: kept, made } : { digest: kept };
}

export async function replaceAdminToken({ installation }: Gateway): Promise<string> {
  const made = newSecret(24);
  await installation.write(TOKEN, digest(made));
  return made;
}
