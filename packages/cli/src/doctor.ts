import { chosenUrl, clientFor, urlOf } from './account.ts'
import type { Check } from './check.ts'
import { checkLogin, checkService, checkStores } from './check-service.ts'
import { checkEvent, checkUpgrade } from './check-socket.ts'
import { checkTime } from './check-time.ts'
import { type Command, textOption } from './command.ts'
import { EXIT, wrongUsage } from './failure.ts'
import type { Paint } from './terminal.ts'

export const doctor: Command = {
  summary: 'what is wrong with a set-up, and how to mend it',
  usage: '[url] [--board <board>]',
  options: { board: { type: 'string' } },
  help: `  --board <board>   also tries whether an event comes through the socket within a second

  Looks at the address, the database, Redis, the clocks, the login, and the way of a WebSocket through whatever stands
  before the service. To try an event, the first column of the board is put where it is already: everybody who watches
  sees a move that changes nothing. The exit code is 1 when something is wrong.`,
  async run(context) {
    const { args, is_json, paint } = context
    const url = args[0] === undefined ? chosenUrl(textOption(context, 'url')) : urlOf(args[0])
    if (url === undefined) throw wrongUsage('Which service? lockstep doctor <url>, or log in first.')
    const checks: Check[] = []
    // Each as soon as it is known: some take seconds.
    for await (const check of examine(url, textOption(context, 'board'))) {
      checks.push(check)
      if (!is_json) console.log(lines(check, paint))
    }
    const is_ok = checks.every(({ state }) => state !== 'wrong')
    if (is_json) console.log(JSON.stringify({ url, is_ok, checks }))
    if (!is_ok) process.exitCode = EXIT.failed
  },
}

async function* examine(url: string, board: string | undefined): AsyncGenerator<Check> {
  const service = await checkService(url)
  yield* service
  // Of something else, or of nothing, there is no more to be known.
  if (service.some(({ state }) => state === 'wrong')) return
  yield* await checkStores(url)
  yield* await checkTime(url)
  const client = clientFor(url)
  try {
    const login = await checkLogin(client)
    yield login
    const upgrade = await checkUpgrade(url)
    yield upgrade
    if (board === undefined) return
    const obstacle = [login, upgrade].find(({ state }) => state !== 'ok')
    if (obstacle) yield { name: 'event', state: 'skipped', detail: `not tried without ${obstacle.name}` }
    else yield await checkEvent(client, board)
  } finally {
    client.close()
  }
}

const signs = { ok: ['green', '✓'], wrong: ['red', '✗'], skipped: ['dim', '–'] } as const

function lines({ name, state, detail, remedy }: Check, paint: Paint): string {
  const [colour, sign] = signs[state]
  const below = remedy?.split('\n').map((line) => `    ${line}`) ?? []
  return [`${paint(colour, sign)} ${name.padEnd(11)} ${detail}`, ...below].join('\n')
}
