/** The session cookie of the panel. */
const NAME = '__Host-turnpike_session';

/** The value of the cookie in a Cookie header. */
export const sessionCookie = (header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);
