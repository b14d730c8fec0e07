import { createClient } from '@lockstep/client'
import { chosenUrl, forgetLogin, keepLogin, loginFile, openClient, readLogin, urlOf } from './account.ts'
import { type Command, textOption } from './command.ts'
import { failureOf, wrongUsage } from './failure.ts'
import { ask, askPassword } from './terminal.ts'

const USUAL_URL = 'http://127.0.0.1:8000'

export const login: Command = {
  summary: 'log in, and stay so',
  usage: '[--url <url>] [--email <address>]',
  options: { email: { type: 'string' } },
  help: `  --email <address>   who logs in

  Asks for what is not given. The password is typed unseen, or read from standard input; it is never an argument, where
  other users of the machine could see it. The token is kept in a file that only you can read, and is renewed as you go.`,
  async run(context) {
    const known = readLogin()
    const { url, email } = await who(textOption(context, 'url'), textOption(context, 'email'), known)
    const password = await askPassword()
    const client = createClient({ base_url: url })
    const user = await client.login({ username: email, password }).then(
      () => client.getMe(),
      (error: unknown) => {
        throw failureOf(error, url)
      },
    )
    const { token, expires_at } = client.session
    client.close()
    if (token === undefined) throw new Error('A login without a token')
    keepLogin({ url, email, token })
    const until = expires_at === undefined ? null : new Date(expires_at).toISOString()
    context.print({ url, user, expires_at: until }, `Logged in at ${url} as ${user.username}.`)
  },
}

async function who(url: string | undefined, email: string | undefined, known = readLogin()) {
  const usual_url = chosenUrl() ?? USUAL_URL
  if (process.stdin.isTTY) {
    return {
      url: urlOf(url ?? (await ask('URL', usual_url))),
      email: email ?? (await ask('E-mail', known?.email)),
    }
  }
  if (email === undefined) throw wrongUsage('Without a terminal, --email says who logs in.')
  return { url: url === undefined ? usual_url : urlOf(url), email }
}

export const logout: Command = {
  summary: 'forget the login',
  usage: '',
  help: `  Removes the file with the token. A token ends by itself an hour after it was made, unless the service is set otherwise.`,
  async run({ print }) {
    const known = readLogin()
    if (known) {
      // The file goes in any case: the service, which may be away, has nothing to forget but a cookie.
      await openClient(known.url)
        .logout({}, { max_tries: 1, timeout_ms: 3_000 })
        .catch(() => {})
      forgetLogin()
    }
    const rest = process.env['LOCKSTEP_TOKEN'] ? ' LOCKSTEP_TOKEN is still set.' : ''
    print({ url: known?.url ?? null, is_logged_out: known !== undefined, file: loginFile() }, () =>
      known ? `Logged out at ${known.url}.${rest}` : `Nobody was logged in.${rest}`,
    )
  },
}
