import { chosenUrl, clientFor, urlOf } from './account.ts'
import type { Check } from './check.ts'
import { checkExposure, checkHttps } from './check-exposure.ts'
import { checkInstances } from './check-instances.ts'
import { checkProxy } from './check-proxy.ts'
import { checkLogin, checkService, checkStores } from './check-service.ts'
import { checkEvent, checkUpgrade } from './check-socket.ts'
import { checkTime } from './check-time.ts'
import { type Command, textOption } from './command.ts'
import { EXIT, wrongUsage } from './failure.ts'
import type { Paint } from './terminal.ts'

export const doctor: Command = {
  summary: 'find problems of a deployment, and how to fix them',
  usage: '[url] [--board <board>]',
  options: { board: { type: 'string' } },
  help: `  --board <board>   also check that an event arrives within a second

  Checks the address, HTTPS, database, Redis, clocks, what outsiders can reach, the proxy, the instances behind it, the
  login, and WebSockets. For the proxy it tries two logins to an account that does not exist. To test an event, it moves
  the first column of the board to its current position, which other users see as a move without effect.
  The exit code is 1 if a check fails.`,
  async run(context) {
    const { args, isJson, paint } = context
    const url = args[0] === undefined ? chosenUrl(textOption(context, 'url')) : urlOf(args[0])
    if (url === undefined) throw wrongUsage('No URL: use lockstep doctor <url>, or log in first.')
    const checks: Check[] = []
    // Print each result immediately, because some checks take seconds.
    for await (const check of runChecks(url, textOption(context, 'board'))) {
      checks.push(check)
      if (!isJson) console.log(lines(check, paint))
    }
    const is_ok = checks.every(({ state }) => state !== 'wrong')
    if (isJson) console.log(JSON.stringify({ url, is_ok, checks }))
    if (!is_ok) process.exitCode = EXIT.failed
  },
}

async function* runChecks(url: string, board: string | undefined): AsyncGenerator<Check> {
  const service = await checkService(url)
  yield* service
  // Other checks make no sense if this is not Lockstep.
  if (service.some(({ state }) => state === 'wrong')) return
  yield checkHttps(url)
  yield* await checkStores(url)
  yield* await checkTime(url)
  yield* await checkExposure(url)
  yield* await checkProxy(url)
  const client = clientFor(url)
  try {
    const login = await checkLogin(client)
    yield login
    yield await checkInstances(url, client.session.token)
    const upgrade = await checkUpgrade(url)
    yield upgrade
    if (board === undefined) return
    const obstacle = [login, upgrade].find(({ state }) => state !== 'ok')
    if (obstacle) yield { name: 'event', state: 'skipped', detail: `skipped without ${obstacle.name}` }
    else yield await checkEvent(client, board)
  } finally {
    client.close()
  }
}

const signs = { ok: ['green', '✓'], wrong: ['red', '✗'], advice: ['yellow', '!'], skipped: ['dim', '–'] } as const

function lines({ name, state, detail, remedy }: Check, paint: Paint): string {
  const [colour, sign] = signs[state]
  const below = remedy?.split('\n').map((line) => `    ${line}`) ?? []
  return [`${paint(colour, sign)} ${name.padEnd(11)} ${detail}`, ...below].join('\n')
}
