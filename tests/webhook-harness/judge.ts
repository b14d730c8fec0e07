/** One request that a receiver got. Times in milliseconds. */
export interface Received {
  webhook_id: string
  /** The header `webhook-id`. */
  id: string
  seq: number
  text: string
  isSigned: boolean
  startedAt: number
  /** When the response was sent or the connection ended. */
  endedAt: number
  /** Whether the receiver acted on it. One that crashed before did not. */
  isProcessed: boolean
  /** Whether it answered with 2xx. The sender may have been killed before it read the answer. */
  isAnswered: boolean
}
export interface WatchedWebhook {
  id: string
  board_id: string
  epoch: number
  /** The position after which it begins. */
  seq: number
}
export interface LoggedEvent {
  seq: number
  body: string
}
export interface DeliveryHistory {
  webhooks: WatchedWebhook[]
  /** In the order of their start. */
  requests: Received[]
  /** The log of each board, in order. */
  log: Map<string, LoggedEvent[]>
  /** Attempts that were saved although a later attempt had accepted their event: by a sender that no longer held the webhook. */
  staleSaves: number
  /** Attempts that an instance sends at once, and how many instances there are. */
  workers: number
  instances: number
  kills: number
  freezes: number
  postgresStops: Stop[]
}
/** When PostgreSQL was stopped without a chance to write what it had in memory, and when its process had ended. */
export interface Stop {
  from: number
  to: number
}

/** PostgreSQL writes an asynchronous commit within three rounds of its WAL writer. */
const LOSABLE_MS = 600
/** The time between an answer and the commit that saves it. */
const SAVE_MS = 1_000
const SHOWN = 5

export interface Judgement {
  violations: string[]
  deliveries: number
  /** Processed events that the receiver had processed before. */
  repeated: number
  repeatedAtMost: number
  /** Processed, but the answer was an error or got lost. */
  lostAnswers: number
  /** Repeated although a later event had been accepted, which only a stop of PostgreSQL causes. */
  olderRepeated: number
}

/** Compares what receivers got with the log of the boards. */
export function judge(history: DeliveryHistory): Judgement {
  const { webhooks, requests, log, workers, instances, kills, freezes, postgresStops } = history
  const found = new Map<string, string[]>()
  const complain = (kind: string, sentence: string) => found.set(kind, [...(found.get(kind) ?? []), sentence])
  const ofWebhook = Map.groupBy(requests, ({ webhook_id }) => webhook_id)
  const seen = { deliveries: 0, repeated: 0, olderRepeated: 0 }
  for (const webhook of webhooks) {
    const outcome = judgeWebhook(webhook, ofWebhook.get(webhook.id) ?? [], log.get(webhook.board_id) ?? [], {
      postgresStops,
      complain: (kind, sentence) => complain(kind, `webhook ${webhook.id}: ${sentence}`),
    })
    seen.deliveries += outcome.deliveries
    seen.repeated += outcome.repeated
    seen.olderRepeated += outcome.olderRepeated
  }
  const lostAnswers = requests.filter(({ isProcessed, isAnswered }) => isProcessed && !isAnswered).length
  const losable = postgresStops.reduce(
    (sum, { from, to }) => sum + requests.filter(({ endedAt: at }) => at > from - LOSABLE_MS && at <= to).length,
    0,
  )
  const unsaved = (kills + freezes + postgresStops.length * instances) * workers
  const repeatedAtMost = lostAnswers + unsaved + losable
  if (seen.repeated > repeatedAtMost)
    complain('repeats', `${seen.repeated} events were repeated, ${repeatedAtMost} at most are explained`)
  if (history.staleSaves > 0)
    complain('stale', `${history.staleSaves} attempts were saved after their event was accepted`)
  const violations = [...found.values()].flatMap((sentences) =>
    sentences.length <= SHOWN
      ? sentences
      : [...sentences.slice(0, SHOWN), `and ${sentences.length - SHOWN} more like these`],
  )
  return { violations, ...seen, repeatedAtMost, lostAnswers }
}

interface Context {
  postgresStops: Stop[]
  complain: (kind: string, sentence: string) => void
}
function judgeWebhook(webhook: WatchedWebhook, requests: Received[], log: LoggedEvent[], context: Context) {
  const { complain, postgresStops } = context
  const bodies = new Map(log.map(({ seq, body }) => [seq, body]))
  const first = new Map<number, Received>()
  const lastEnd = new Map<number, number>()
  let last = webhook.seq
  let previous = last
  let busyUntil = 0
  let repeated = 0
  let olderRepeated = 0
  for (const request of requests) {
    const { seq, id, text, isSigned, startedAt, endedAt } = request
    if (!isSigned) complain('signature', `the signature of ${seq} is wrong`)
    if (id !== `evt_${webhook.board_id}_${webhook.epoch}_${seq}`) complain('id', `${seq} has the id ${id}`)
    if (text !== textOf(webhook, seq, bodies.get(seq))) complain('text', `${seq} differs from the log`)
    const before = first.get(seq)
    if (before && (before.id !== id || before.text !== text)) complain('repeat', `${seq} was repeated differently`)
    first.set(seq, before ?? request)
    if (startedAt < busyUntil) complain('overlap', `${seq} was sent while another request was running`)
    busyUntil = Math.max(busyUntil, endedAt)
    if (seq > last + 1) complain('gap', `${seq} came after ${last}`)
    // After a position went back, events are sent from there on, each until the receiver accepts it.
    const continues = seq === previous || seq === previous + 1
    if (seq < last && !continues) {
      const answeredAt = lastEnd.get(seq) ?? 0
      const stop = postgresStops.find(({ to }) => answeredAt <= to)
      const msBefore = stop && stop.from - answeredAt
      const when = msBefore === undefined ? 'without a' : `answered ${msBefore.toFixed(0)} ms before the next`
      if (msBefore === undefined || msBefore > LOSABLE_MS + SAVE_MS)
        complain('older', `${seq} came again after ${last}, ${when} stop of PostgreSQL`)
    }
    if (request.isProcessed && seq <= last) repeated++
    if (request.isProcessed && seq < last) olderRepeated++
    if (request.isProcessed) last = Math.max(last, seq)
    lastEnd.set(seq, endedAt)
    previous = seq
  }
  const head = log.at(-1)?.seq ?? 0
  if (last !== head) complain('end', `${head - last} events up to ${head} are missing`)
  return { deliveries: last - webhook.seq, repeated, olderRepeated }
}

/** The body of a request: the event's text in the log, with its place in front. */
const textOf = ({ board_id, epoch }: WatchedWebhook, seq: number, body = '') =>
  `{"board_id":"${board_id}","epoch":${epoch},"seq":${seq},${body.slice(1)}`
