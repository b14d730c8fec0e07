import { hostname } from 'node:os'
import type { AccessToken, Client } from '@lockstep/client'
import { type Command, type Context, textOption } from './command.ts'
import { wrongUsage } from './failure.ts'
import { findBoard, pick, shortIds } from './find.ts'
import { escapeControlChars, fit, widthOf } from './terminal.ts'

const SCOPES = ['read', 'write', 'admin'] as const
type Scope = (typeof SCOPES)[number]
const isScope = (word: string): word is Scope => SCOPES.some((scope) => scope === word)

export const tokens: Command = {
  summary: 'list, create and revoke access tokens',
  usage: '[action] [token]',
  options: {
    name: { type: 'string' },
    scope: { type: 'string' },
    board: { type: 'string' },
    days: { type: 'string' },
  },
  help: `  lockstep tokens                   list your access tokens
  lockstep tokens new               create one, and print it: it is shown only once
  lockstep tokens revoke <token>    revoke one, given by its id or name

  --scope <scope>   read (the default), write or admin
  --board <board>   limit the token to one board
  --days <number>   lifetime (default: 90)
  --name <name>     what it is for (default: the name of this machine)

  Creating a token requires a login with a password within the last hour. Use it as LOCKSTEP_TOKEN, or with
  lockstep login --token.`,
  async run(context) {
    const [action = 'list', word] = context.args
    if (action === 'list' && word === undefined) return list(context)
    if (action === 'new' && word === undefined) return create(context)
    if (action === 'revoke' && word !== undefined) return revoke(context, word)
    throw wrongUsage('Usage: lockstep tokens, lockstep tokens new, or lockstep tokens revoke <token>')
  },
}

async function list({ client, paint, print }: Context): Promise<void> {
  const api = client()
  const all = await api.listTokens()
  const titles = new Map(all.some(({ board_id }) => board_id) ? await boardTitles(api) : [])
  const ids = shortIds(all.map(({ id }) => id))
  print(all, () => {
    if (all.length === 0) return 'No access tokens. Create one: lockstep tokens new'
    const width = Math.min(30, Math.max(...all.map(({ name }) => widthOf(escapeControlChars(name)))))
    return all
      .map((token) => {
        const { id, name, scope, board_id, hint } = token
        const where = board_id === null ? 'all boards' : escapeControlChars(titles.get(board_id) ?? board_id)
        const shown = paint('bold', fit(escapeControlChars(name), width))
        const parts = [paint('dim', ids.get(id) ?? id), shown, scope.padEnd(5), `…${hint}`, where, lifetimeOf(token)]
        return parts.join('  ')
      })
      .join('\n')
  })
}

const boardTitles = async (api: Client): Promise<[id: string, title: string][]> =>
  (await api.listBoards()).map(({ id, title }) => [id, title])

const dayOf = (at: string) => at.slice(0, 10)
function lifetimeOf({ expires_at, last_used_at }: AccessToken): string {
  const used = last_used_at === null ? 'never used' : `last used ${dayOf(last_used_at)}`
  if (expires_at === null) return `${used}, never expires`
  return `${used}, ${Date.parse(expires_at) <= Date.now() ? 'expired' : 'expires'} ${dayOf(expires_at)}`
}

async function create(context: Context): Promise<void> {
  const { client, print, isJson } = context
  const scope = textOption(context, 'scope') ?? 'read'
  if (!isScope(scope)) throw wrongUsage(`--scope is ${SCOPES.join(', ')}.`)
  const days = textOption(context, 'days')
  if (days !== undefined && !/^\d{1,4}$/.test(days)) throw wrongUsage('--days is a number of days.')
  const board = textOption(context, 'board')
  const api = client()
  const created = await api.createToken({
    name: textOption(context, 'name') ?? hostname(),
    scope,
    ...(board !== undefined && { board_id: (await findBoard(api, board)).id }),
    ...(days !== undefined && { expires_in_days: Number(days) }),
  })
  // Only the token is on stdout, so that a script can store it.
  if (!isJson) console.error(`Created “${escapeControlChars(created.name)}”. The token is shown only once:`)
  print(created, created.token)
}

async function revoke({ client, print }: Context, word: string): Promise<void> {
  const api = client()
  const all = (await api.listTokens()).map((token) => ({ ...token, title: token.name }))
  const { id, name } = pick('access token', word, all)
  await api.revokeToken({ token_id: id })
  print({ id }, `Revoked “${escapeControlChars(name)}”.`)
}
