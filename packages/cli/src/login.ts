import { createClient } from '@lockstep/client'
import { chosenUrl, deleteLogin, isAccessToken, loginFile, openClient, readLogin, saveLogin, urlOf } from './account.ts'
import { type Command, type Context, textOption } from './command.ts'
import { failureOf, wrongUsage } from './failure.ts'
import { ask, askSecret } from './terminal.ts'

const DEFAULT_URL = 'http://127.0.0.1:8000'

export const login: Command = {
  summary: 'log in',
  usage: '[--url <url>] [--email <address> | --token]',
  options: { email: { type: 'string' }, token: { type: 'boolean' } },
  help: `  --email <address>   your e-mail address
  --token             log in with an access token instead of a password

  Prompts for missing values. The password or access token is typed without echo or read from stdin; it is never an
  argument, where other users of the machine could see it. The token is stored in a file that only you can read. The
  token of a password login is renewed on use; an access token is not.`,
  async run(context) {
    if (context.values['token'] === true) return logInWithToken(context)
    const known = readLogin()
    const { url, email } = await askLogin(textOption(context, 'url'), textOption(context, 'email'), known)
    const password = await askSecret('Password')
    const client = createClient({ baseUrl: url, strict: true })
    const user = await client.login({ username: email, password }).then(
      () => client.getMe(),
      (error: unknown) => {
        throw failureOf(error, url)
      },
    )
    const { token, expiresAt } = client.session
    client.close()
    if (token === undefined) throw new Error('The login returned no token')
    saveLogin({ url, email, token })
    const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString()
    context.print({ url, user, expires_at: until }, `Logged in at ${url} as ${user.username}.`)
  },
}

async function logInWithToken(context: Context): Promise<void> {
  const given = textOption(context, 'url')
  const url = given === undefined ? (chosenUrl() ?? DEFAULT_URL) : urlOf(given)
  const token = (await askSecret('Access token')).trim()
  if (!isAccessToken(token)) throw wrongUsage('This is not an access token: it begins with lsp_ or lsb_.')
  const client = createClient({ baseUrl: url, token, strict: true })
  const user = await client.getMe().catch((error: unknown) => {
    throw failureOf(error, url, 'This access token is unknown, expired or revoked.')
  })
  client.close()
  saveLogin({ url, email: user.email, token })
  context.print({ url, user, expires_at: null }, `Logged in at ${url} as ${user.username}, with an access token.`)
}

async function askLogin(url: string | undefined, email: string | undefined, known = readLogin()) {
  const defaultUrl = chosenUrl() ?? DEFAULT_URL
  if (process.stdin.isTTY) {
    return {
      url: urlOf(url ?? (await ask('URL', defaultUrl))),
      email: email ?? (await ask('E-mail', known?.email)),
    }
  }
  if (email === undefined) throw wrongUsage('Without a terminal, --email is required.')
  return { url: url === undefined ? defaultUrl : urlOf(url), email }
}

export const whoami: Command = {
  summary: 'show the account of the login',
  usage: '',
  async run({ client, print }) {
    const service = client()
    const user = await service.getMe()
    print({ url: service.baseUrl, user }, `${user.username} (${user.email}) at ${service.baseUrl}`)
  },
}

export const logout: Command = {
  summary: 'log out',
  usage: '',
  help: `  Removes the stored token. The token itself expires an hour after it was issued, unless configured otherwise.
  An access token stays valid; revoke it with lockstep tokens revoke.`,
  async run({ print }) {
    const known = readLogin()
    if (known) {
      // Remove the file in any case. The service, which may be down, only has to clear a cookie.
      await openClient(known.url)
        .logout({}, { maxTries: 1, timeoutMs: 3_000 })
        .catch(() => {})
      deleteLogin()
    }
    const rest = process.env['LOCKSTEP_TOKEN'] ? ' LOCKSTEP_TOKEN is still set.' : ''
    print({ url: known?.url ?? null, is_logged_out: known !== undefined, file: loginFile() }, () =>
      known ? `Logged out at ${known.url}.${rest}` : `Not logged in.${rest}`,
    )
  },
}
