/** The options of all commands. */
const options = {
  email: { type: 'string' },
  username: { type: 'string' },
  generate: { type: 'boolean' },
  json: { type: 'boolean' },
  out: { type: 'string' },
  yes: { type: 'boolean' },
  stopped: { type: 'boolean' },
  limit: { type: 'string' },
} as const
type OptionName = keyof typeof options

interface AdminCommand {
  /** The arguments: `<required>`, `[optional]`. A command that takes `<address>` is about one user. */
  usage: string
  summary: string
  options?: OptionName[]
}

/** The commands of `npm run admin`, in the order of its help. */
export const adminCommands = {
  'create-superuser': {
    usage: '--email <address> --username <name>',
    summary: 'create a superuser; asks for the password, or reads it from standard input',
    options: ['email', 'username'],
  },
  'create-user': {
    usage: '--email <address> --username <name> [--generate]',
    summary: 'create an account; asks for the password, or --generate prints a random one',
    options: ['email', 'username', 'generate'],
  },
  invite: {
    usage: '[--email <address>]',
    summary: 'print a link with which a person creates an account, also if registration is closed',
    options: ['email'],
  },
  invitations: {
    usage: '[--json]',
    summary: 'pending invitations, to boards and to the service',
    options: ['json'],
  },
  'revoke-invitation': { usage: '<id>', summary: 'end a pending invitation' },
  deactivate: {
    usage: '<address>',
    summary: 'disable an account; its tokens are rejected from the next request on',
  },
  activate: { usage: '<address>', summary: 're-enable an account' },
  'reset-password': {
    usage: '<address> [--generate]',
    summary: 'set a new password, end all sessions and revoke all access tokens; --generate prints a random one',
    options: ['generate'],
  },
  'reset-link': { usage: '<address>', summary: 'print a link with which the user sets a new password' },
  tokens: { usage: '<address> [--json]', summary: 'list the access tokens of a user', options: ['json'] },
  'revoke-tokens': { usage: '<address>', summary: 'revoke all access tokens of a user' },
  statistics: {
    usage: '[--json]',
    summary: 'totals, and what was created in the last seven days',
    options: ['json'],
  },
  export: {
    usage: '<address> [--out <file>]',
    summary: 'all data about a user, as one JSON document',
    options: ['out'],
  },
  erase: {
    usage: '<address> [--yes]',
    summary: "erase a user's personal data permanently; asks for confirmation",
    options: ['yes'],
  },
  audit: {
    usage: '[--limit <number>] [--json]',
    summary: 'the audit log, newest entry first',
    options: ['limit', 'json'],
  },
  migrate: {
    usage: '[--stopped]',
    summary: 'bring the schema up to date; --stopped: no instance is running',
    options: ['stopped'],
  },
  'new-epoch': { usage: '', summary: 'after a restore: every client reloads its boards' },
  reencrypt: {
    usage: '',
    summary: 'encrypt the secrets of webhooks with ENCRYPTION_KEY, to end ENCRYPTION_KEY_PREVIOUS',
  },
  recount: { usage: '', summary: 'count the contents of each board again, at its next change' },
} satisfies Record<string, AdminCommand>
export type AdminCommandName = keyof typeof adminCommands

export const isAdminCommand = (name: string): name is AdminCommandName => Object.hasOwn(adminCommands, name)

/** The options that a command accepts. */
export function optionsOf(name: AdminCommandName): typeof options {
  const command: AdminCommand = adminCommands[name]
  const accepted = command.options ?? []
  return Object.fromEntries(accepted.map((option) => [option, options[option]])) as typeof options
}

const isAboutUser = (name: AdminCommandName) => adminCommands[name].usage.startsWith('<address>')

/** Whether a command takes an address or an id. */
export const takesPositional = (name: AdminCommandName) => adminCommands[name].usage.startsWith('<')

const SHARED = `  --version   print the version
  --help      show this help`
const ADDRESS = 'An <address> is an e-mail address or the id of a user.'

const lines = Object.entries(adminCommands).map(
  ([name, { usage, summary }]) => `  ${`${name} ${usage}`.padEnd(54)} ${summary}`,
)
export const overview = `npm run admin -- <command>

${lines.join('\n')}

${SHARED}

${ADDRESS} \`npm run admin -- <command> --help\` shows one command.`

export const usageOf = (name: AdminCommandName) => `npm run admin -- ${name} ${adminCommands[name].usage}`.trimEnd()

export const helpOf = (name: AdminCommandName) =>
  [usageOf(name), `  ${adminCommands[name].summary}`, SHARED, ...(isAboutUser(name) ? [ADDRESS] : [])].join('\n\n')
