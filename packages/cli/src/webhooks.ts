import type { Client, Webhook, WebhookAttempt } from '@lockstep/client'
import { type Command, type Context, textOption } from './command.ts'
import { EXIT, Failure, wrongUsage } from './failure.ts'
import { findBoard, pick, shortIds } from './find.ts'
import { escapeControlChars, fit, widthOf } from './terminal.ts'
import { listen } from './webhooks-listen.ts'

const MAX_DELIVERIES = 20

export const webhooks: Command = {
  summary: 'send the events of a board to other programs',
  usage: '[action] <board> [webhook]',
  options: {
    name: { type: 'string' },
    kinds: { type: 'string' },
    after: { type: 'string' },
    to: { type: 'string' },
    now: { type: 'boolean' },
  },
  help: `  lockstep webhooks <board>                       list the webhooks of a board
  lockstep webhooks new <board> <url>             create one
  lockstep webhooks test <board> <webhook>        send a test event
  lockstep webhooks deliveries <board> <webhook>  list what it has sent lately
  lockstep webhooks secret <board> <webhook>      print the secret that signs its requests
  lockstep webhooks rotate <board> <webhook>      replace the secret; the old one signs too for 24 hours
  lockstep webhooks resume <board> <webhook>      send again from where it stopped, or --after a position
  lockstep webhooks enable|disable|delete <board> <webhook>
  lockstep webhooks listen <board> --to <url>     send the events to a program on this machine, without a webhook

  --name <name>       what it is for (default: the host of the URL)
  --kinds <a,b>       only these kinds of events, such as card.created,card.moved (default: all)
  --after <position>  new, resume: begin after this position; 0: everything that the log has
  --now               rotate: the old secret ends at once
  --to <url>          listen: where to send the events

  A webhook is given by its id or name. Owners of the board manage webhooks; secret requires a login within the last hour.
  listen retries each event until it is accepted. It signs with WEBHOOK_SECRET, or with a random secret that it prints.`,
  async run(context) {
    const [first = '', board, word] = context.args
    if (board === undefined) return list(context, first)
    if (first === 'listen' && word === undefined) return listen(context, board)
    const action = Object.hasOwn(actions, first) ? actions[first] : undefined
    if (!action || word === undefined) throw wrongUsage('Usage: see lockstep help webhooks')
    const api = context.client()
    const { id: board_id } = await findBoard(api, board)
    await action({ context, api, board_id, word })
  },
}

interface Call {
  context: Context
  api: Client
  board_id: string
  word: string
}
const actions: Record<string, (call: Call) => Promise<void>> = {
  new: create,
  secret: printSecret,
  deliveries,
  test: sendTest,
  rotate,
  resume: (call) => change(call, (at) => call.api.resumeWebhook({ ...at, ...afterOption(call.context) }), 'resumed.'),
  enable: (call) => change(call, (at) => call.api.updateWebhook({ ...at, is_enabled: true }), 'enabled.'),
  disable: (call) => change(call, (at) => call.api.updateWebhook({ ...at, is_enabled: false }), 'disabled.'),
  delete: (call) => change(call, (at) => call.api.deleteWebhook(at), 'deleted.'),
}

async function list({ client, paint, print }: Context, board: string): Promise<void> {
  const api = client()
  const { id: board_id } = await findBoard(api, board)
  const all = await api.listWebhooks({ board_id })
  const ids = shortIds(all.map(({ id }) => id))
  const last = await Promise.all(all.map(({ id }) => lastResult(api, { board_id, webhook_id: id })))
  print(
    all.map((webhook, i) => ({ ...webhook, last_result: last[i] ?? null })),
    () => {
      if (all.length === 0) return 'No webhooks. Create one: lockstep webhooks new <board> <url>'
      const width = Math.min(30, Math.max(...all.map(({ name }) => widthOf(escapeControlChars(name)))))
      return all
        .map((webhook, i) => {
          const { id, name, url } = webhook
          const shown = paint('bold', fit(escapeControlChars(name), width))
          const result = `last: ${last[i] ?? 'nothing sent'}`
          return [paint('dim', ids.get(id) ?? id), shown, stateOf(webhook), result, escapeControlChars(url)].join('  ')
        })
        .join('\n')
    },
  )
}

async function lastResult(api: Client, at: { board_id: string; webhook_id: string }): Promise<string | undefined> {
  const [delivery] = await api.listDeliveries({ ...at, limit: 1 })
  return delivery && resultOf(delivery)
}
const resultOf = ({ status, error }: Pick<WebhookAttempt, 'status' | 'error'>) => String(status ?? error)

function stateOf({ state, paused_reason, behind }: Webhook): string {
  const why = paused_reason === null ? state : `${state} (${paused_reason})`
  return `${why}, ${behind === 0 ? 'up to date' : `${behind} behind`}`
}

const afterOption = (context: Context) => {
  const after = textOption(context, 'after')
  return after === undefined ? {} : { after }
}

async function create({ context, api, board_id, word: url }: Call): Promise<void> {
  const kinds = textOption(context, 'kinds')
    ?.split(',')
    .map((kind) => kind.trim())
  const created = await api.createWebhook({
    board_id,
    url,
    name: textOption(context, 'name') ?? (URL.canParse(url) ? new URL(url).host : url),
    // The service rejects unknown kinds.
    ...(kinds && { kinds: kinds as NonNullable<Webhook['kinds']> }),
    ...afterOption(context),
  })
  const words = `Created “${escapeControlChars(created.name)}” (${created.id}), which begins after ${created.position}.`
  context.print(created, `${words}\nIts secret: lockstep webhooks secret ${board_id} ${created.id}`)
}

async function find({ api, board_id, word }: Call) {
  const all = (await api.listWebhooks({ board_id })).map((webhook) => ({ ...webhook, title: webhook.name }))
  const { id, name } = pick('webhook', word, all)
  return { name: `“${escapeControlChars(name)}”`, at: { board_id, webhook_id: id } }
}
type Place = Awaited<ReturnType<typeof find>>['at']

async function change(call: Call, work: (at: Place) => Promise<Webhook | undefined>, done: string): Promise<void> {
  const { name, at } = await find(call)
  const webhook = await work(at)
  call.context.print(webhook ?? { id: at.webhook_id }, `${name} ${done}`)
}

async function printSecret(call: Call): Promise<void> {
  const { at } = await find(call)
  const secret = await call.api.getWebhookSecret(at)
  call.context.print(secret, secret.secret)
}

async function rotate(call: Call): Promise<void> {
  const keep_old_hours = call.context.values['now'] === true ? 0 : 24
  const ending = keep_old_hours === 0 ? '' : ` The old one signs too for ${keep_old_hours} hours.`
  await change(call, (at) => call.api.rotateWebhookSecret({ ...at, keep_old_hours }), `has a new secret.${ending}`)
}

async function sendTest(call: Call): Promise<void> {
  const { name, at } = await find(call)
  const attempt = await call.api.testWebhook(at)
  const { status, duration_ms } = attempt
  const isAccepted = status !== null && status >= 200 && status < 300
  const time = duration_ms === null ? '' : ` after ${duration_ms} ms`
  const result = `${name}: ${resultOf(attempt)}${time}`
  if (!isAccepted)
    throw new Failure(`${result}. The test event was not accepted.`, EXIT.failed, { code: 'not_accepted' })
  call.context.print(attempt, result)
}

async function deliveries(call: Call): Promise<void> {
  const { at } = await find(call)
  const all = await call.api.listDeliveries({ ...at, limit: MAX_DELIVERIES })
  const { paint, print } = call.context
  print(all, () => {
    if (all.length === 0) return 'Nothing was sent lately.'
    return all
      .map(({ attempted_at, type, position, attempt, is_accepted, duration_ms, ...result }) => {
        const shown = paint(is_accepted ? 'green' : 'red', resultOf(result))
        const time = duration_ms === null ? '' : `${duration_ms} ms`
        const parts = [attempted_at, shown, time, type, position ?? '', attempt === 1 ? '' : `attempt ${attempt}`]
        return parts.filter((part) => part !== '').join('  ')
      })
      .join('\n')
  })
}
