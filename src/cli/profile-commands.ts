/** The part of the table of commands about profiles. */
import type { Command } from './command.ts';

export const PROFILE_COMMANDS: readonly Command[] = [
  {
    name: 'profile add',
    summary: 'Keeps the address and the token of a gateway under a name, for --profile',
    details:
      'The admin token, or an API token of the panel, is read from standard input, or asked for on a terminal. It is ' +
      'tried before it is kept, in a file that only you can read.',
    args: [{ name: 'name', about: 'the name of the profile, such as live' }],
    options: [{ name: 'url', value: '<address>', about: 'the gateway', kind: 'address', isRequired: true }],
    json: 'document',
    variables: ['XDG_CONFIG_HOME'],
    examples: ['profile add live --url https://pay.example.com'],
    run: async (call) => (await import('./profile.ts')).addProfile(call),
  },
  {
    name: 'profile list',
    summary: 'Lists the profiles, without their tokens',
    json: 'document',
    variables: ['XDG_CONFIG_HOME'],
    examples: ['profile list'],
    run: async (call) => (await import('./profile.ts')).listProfiles(call),
  },
  {
    name: 'profile remove',
    summary: 'Removes a profile and its token',
    args: [{ name: 'name', about: 'the name of the profile' }],
    json: 'document',
    variables: ['XDG_CONFIG_HOME'],
    examples: ['profile remove live'],
    run: async (call) => (await import('./profile.ts')).removeProfile(call),
  },
];
