/** What several parts of the table of commands have in common: an option, and the variables that they read. */
import { text } from './command.ts';

/** What the commands over the admin API read. */
export const REMOTE = ['TURNPIKE_ADMIN_TOKEN', 'DATA_DIR', 'TURNPIKE_PROFILE'];

export const MID_OPTION = text('mid', '<mid>', 'the account; required if there are several', { kind: 'uuid' });
