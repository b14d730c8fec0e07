import { mutatedServer } from '@lockstep/testing/mutated-server'
import { eventually, type ServiceProcess } from '@lockstep/testing/processes'
import { WebhookReceiver } from '@lockstep/testing/webhook-receiver'
import { describe, expect, test } from 'vitest'
import { type HarnessBoard, HarnessService } from './webhook-harness/environment.ts'
import { type DeliveryHistory, judge, type Received } from './webhook-harness/judge.ts'
import { mutations } from './webhook-harness/mutants.ts'
import { deliverThroughFaults } from './webhook-harness/run.ts'

describe('the judge', () => {
  const webhook = { id: 'hook', board_id: 'board', epoch: 1, seq: 2 }
  const bodyOf = (seq: number) => `{"type":"card.created","data":{"nth":${seq}}}`
  const requestOf = (seq: number, startedAt: number): Received => ({
    ...{ webhook_id: 'hook', id: `evt_board_1_${seq}`, seq, isSigned: true, startedAt, endedAt: startedAt + 50 },
    text: `{"board_id":"board","epoch":1,"seq":${seq},${bodyOf(seq).slice(1)}`,
    ...{ isProcessed: true, isAnswered: true },
  })
  /** Ten events, each sent once. */
  const sound = (): DeliveryHistory => ({
    webhooks: [webhook],
    requests: Array.from({ length: 10 }, (_, nth) => requestOf(nth + 3, 1_000 + nth * 200)),
    log: new Map([['board', Array.from({ length: 12 }, (_, nth) => ({ seq: nth + 1, body: bodyOf(nth + 1) }))]]),
    ...{ staleSaves: 0, workers: 1, instances: 1, kills: 0, freezes: 0, postgresStops: [] },
  })
  const request = ({ requests }: DeliveryHistory, seq: number) => requests.find((each) => each.seq === seq) as Received
  /** Sends an event again, after the request at this place. */
  const repeat = ({ requests }: DeliveryHistory, seq: number, after: number) => {
    const place = requests.findIndex((each) => each.seq === after)
    requests.splice(place + 1, 0, requestOf(seq, (requests[place] as Received).endedAt + 10))
  }

  test('[HOOK-4] [HOOK-5] finds nothing in a correct history', () => {
    expect(judge(sound())).toMatchObject({ violations: [], deliveries: 10, repeated: 0, repeatedAtMost: 0 })
  })

  test('[HOOK-5] allows a repeat after a lost answer, a kill, or a stop of PostgreSQL', () => {
    const lost = sound()
    request(lost, 6).isAnswered = false
    repeat(lost, 6, 6)
    expect(judge(lost)).toMatchObject({ violations: [], repeated: 1, lostAnswers: 1 })
    const killed = { ...sound(), kills: 1 }
    repeat(killed, 6, 6)
    expect(judge(killed)).toMatchObject({ violations: [], repeated: 1 })
    const stopped = { ...sound(), postgresStops: [{ from: 1_720, to: 1_730 }] }
    repeat(stopped, 5, 6)
    expect(judge(stopped)).toMatchObject({ violations: [], repeated: 1, olderRepeated: 1 })
    // The receiver rejects it then, and it is sent again later.
    const retried = { ...sound(), postgresStops: [{ from: 1_720, to: 1_730 }], kills: 10 }
    const second = { ...requestOf(5, 1_990), isProcessed: false, isAnswered: false }
    retried.requests = retried.requests.map((each) =>
      each.seq > 6 ? requestOf(each.seq, 60_000 + each.seq * 200) : each,
    )
    retried.requests.splice(4, 0, second, requestOf(5, 30_000), requestOf(6, 30_200))
    expect(judge(retried)).toMatchObject({ violations: [], repeated: 2, olderRepeated: 1 })
  })

  const defects: [what: string, finds: RegExp, seed: (history: DeliveryHistory) => void][] = [
    ['a missing event', /7 came after 5/, (history) => history.requests.splice(3, 1)],
    ['a missing last event', /1 events up to 12 are missing/, (history) => history.requests.pop()],
    ['a webhook without requests', /10 events up to 12/, (history) => history.requests.splice(0)],
    [
      'an event that was rejected and never repeated',
      /7 came after 5/,
      (history) => Object.assign(request(history, 6), { isProcessed: false, isAnswered: false }),
    ],
    [
      'two events in the wrong order',
      /6 came after 4/,
      ({ requests }) => requests.splice(2, 2, ...requests.slice(2, 4).toReversed()),
    ],
    ['a changed byte', /6 differs from the log/, (history) => Object.assign(request(history, 6), { text: '{}' })],
    ['another id', /6 has the id x/, (history) => Object.assign(request(history, 6), { id: 'x' })],
    ['a wrong signature', /signature of 6/, (history) => Object.assign(request(history, 6), { isSigned: false })],
    ['a repeat without a cause', /1 events were repeated, 0 at most/, (history) => repeat(history, 6, 6)],
    [
      'a repeat with another body',
      /6 was repeated differently/,
      (history) => {
        repeat(history, 6, 6)
        Object.assign(history.requests[4] as Received, { text: '{}' })
      },
    ],
    [
      'a position that went back without a stop of PostgreSQL',
      /5 came again after 6/,
      (history) => {
        repeat(history, 5, 6)
        history.kills = 10
      },
    ],
    [
      'a position that went back further than a stop of PostgreSQL explains',
      /3 came again after 12/,
      (history) => {
        repeat(history, 3, 12)
        history.postgresStops.push({ from: 3_000, to: 3_010 })
      },
    ],
    ['two requests at once', /7 was sent while/, (history) => Object.assign(request(history, 6), { endedAt: 1_820 })],
    [
      'a save of a sender that no longer holds the webhook',
      /1 attempts were saved/,
      (history) => Object.assign(history, { staleSaves: 1 }),
    ],
  ]
  test.each(defects)('[HOOK-4] [HOOK-5] [HOOK-9] finds %s', (_, finds, seed) => {
    const history = sound()
    seed(history)
    expect(judge(history).violations).toContainEqual(expect.stringMatching(finds))
  })

  test('each seeded defect of the sender can be built', async () => {
    for (const mutation of Object.values(mutations)) expect(await mutatedServer(mutation)).toMatch(/main\.ts$/)
  })
})

test('[HOOK-3] [HOOK-4] [HOOK-5] [HOOK-9] every event arrives in order while instances, stores and receivers fail', {
  timeout: 240_000,
}, async () => {
  const run = await deliverThroughFaults(
    {
      ...{ deliveries: 2_000, boards: 10, webhooksPerBoard: 2, users: 4, receivers: 5, instances: 3, writers: 4 },
      ...{ kills: 2, freezes: 1, redisStops: 1, postgresStops: 1, gapMs: 1_000 },
    },
    { seed: 7, progress: console.log },
  )
  expect(run.violations).toEqual([])
  expect(run.deliveries).toBeGreaterThan(1_500)
  expect(run.lostAnswers).toBeGreaterThan(0)
})

test('[HOOK-16] a kill delays an event by 7 seconds, and by 12 seconds and the timeout if it was being sent', {
  timeout: 240_000,
}, async () => {
  const TIMEOUT_MS = 5_000
  const settings = { WEBHOOK_TIMEOUT_SECONDS: String(TIMEOUT_MS / 1_000) }
  await using service = await HarnessService.start(1, { settings })
  const receiver = await WebhookReceiver.start()
  try {
    const [kept, sent] = (await service.makeBoards(2, 2)) as [HarnessBoard, HarnessBoard]
    for (const board of [kept, sent]) await service.makeWebhook(board, receiver.url)
    const requestsOf = ({ id }: HarnessBoard) => receiver.requests.filter(({ message }) => message.board_id === id)
    const write = ({ token, card_id }: HarnessBoard, nth: number) =>
      service.client(token, nth).call('updateCard', { params: { card_id }, body: { title: 'Changed' } })

    await Promise.all([service.launch(1, { WEBHOOK_WORKERS: '0' }), service.launch(2)])
    // The first instance sends, and dies before it has an answer.
    receiver.respond = () => undefined
    await write(sent, 0)
    await eventually('it is being sent', () => requestsOf(sent).length === 1)
    await (service.instances[0] as ServiceProcess).end('SIGKILL')
    const killedAt = Date.now()
    receiver.respond = () => 204
    // The second one only commits, and dies before it sends.
    await write(kept, 1)
    const committedAt = Date.now()
    await (service.instances[1] as ServiceProcess).end('SIGKILL')

    const [first] = await eventually('the committed event', () => requestsOf(kept).length > 0 && requestsOf(kept))
    expect((first?.at as number) - committedAt).toBeLessThan(7_000)
    const [before, again] = await eventually('the event again', () => requestsOf(sent).length > 1 && requestsOf(sent))
    expect((again?.at as number) - killedAt).toBeLessThan(TIMEOUT_MS + 12_000)
    expect(again?.text).toBe(before?.text)
    expect(again?.headers['webhook-id']).toBe(before?.headers['webhook-id'])
  } finally {
    await receiver.close()
  }
})
