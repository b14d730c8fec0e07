import { randomUUID } from 'node:crypto'
import type { ApiResponse, Failure } from '@lockstep/testing/client'
import fc from 'fast-check'
import type { BoardActivity, FoldEnvironment, FoldUser } from './record-board.ts'
import { Dice, inputsOf, weightOf, writeNames } from './writes.ts'

export interface Size {
  /** Concurrent clients. Some of them have the same user. */
  clients: number
  /** The number of consecutive writes of each client. */
  steps: number
}

/** `again`: repeats an earlier request of the same client with its idempotency key. */
const anyStep = fc.record({
  does: fc.oneof(...writeNames.map((name) => ({ weight: weightOf(name), arbitrary: fc.constant(name) }))),
  how: fc.oneof(
    { weight: 12, arbitrary: fc.constant('plain' as const) },
    { weight: 2, arbitrary: fc.constant('keyed' as const) },
    { weight: 2, arbitrary: fc.constant('twice at once' as const) },
    { weight: 2, arbitrary: fc.constant('again' as const) },
  ),
  rolls: fc.array(fc.nat(9_999), { minLength: 14, maxLength: 14, size: 'max' }),
})
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

function planOf(seed: number, { clients, steps }: Size): Step[][] {
  const client = fc.array(anyStep, { minLength: steps, maxLength: steps, size: 'max' })
  const plan = fc.array(client, { minLength: clients, maxLength: clients, size: 'max' })
  return fc.sample(plan, { seed, numRuns: 1 })[0] as Step[][]
}

/** Concurrent random writes. The seed decides the writes, but not their order. */
export const randomWrites =
  (seed: number, size: Size, { urls, users }: FoldEnvironment): BoardActivity =>
  async ({ known, send, complain }) => {
    const writers = users.slice(0, -1)

    const client = async (steps: Step[], nth: number) => {
      const who = writers[nth % writers.length] as FoldUser
      const [here, there] = nth % 2 ? urls : urls.toReversed()
      const repeatable: (() => Promise<void>)[] = []
      for (const step of steps) await take(step, who, [here as string, there as string], repeatable)
    }

    /** Removals by user: how many have begun, and how many have ended. */
    const begun = new Map<string, number>()
    const ended = new Map<string, number>()
    const count = (removals: Map<string, number>, user_id: string) =>
      removals.set(user_id, (removals.get(user_id) ?? 0) + 1)
    const take = async (
      { does, how, rolls }: Step,
      who: FoldUser,
      [here, there]: [string, string],
      repeatable: (() => Promise<void>)[],
    ) => {
      const dice = new Dice(rolls)
      const again = how === 'again' ? dice.among(repeatable) : undefined
      if (again) return again()
      // The inputs belong to this operation, which the compiler cannot follow.
      const inputs = inputsOf(does, dice, known)
      const { user_id: removed } = (inputs as { params?: { user_id?: string } }).params ?? {}
      const isRemoval = does === 'removeMember' && removed
      if (isRemoval) count(begun, removed)
      try {
        return await attempt({ does, how }, who, [here, there], { inputs, dice, repeatable })
      } finally {
        if (isRemoval) count(ended, removed)
      }
    }
    const attempt = async (
      { does, how }: Pick<Step, 'does' | 'how'>,
      who: FoldUser,
      [here, there]: [string, string],
      { inputs, dice, repeatable }: { inputs: object; dice: Dice; repeatable: (() => Promise<void>)[] },
    ) => {
      if (how === 'plain') return askIn(await send(who, here, does, inputs as never), who, dice)
      const endedBefore = ended.get(who.id) ?? 0
      const keyed = { ...inputs, headers: { 'idempotency-key': randomUUID() } } as never
      const attempts = [send(who, here, does, keyed)]
      if (how === 'twice at once') attempts.push(send(who, there, does, keyed))
      // Either may fail on its own, before the other changes the board.
      const [success, ...others] = (await Promise.all(attempts)).filter(({ status }) => status < 400)
      if (!success) return
      const expectSame = ({ status, text }: ApiResponse) => {
        // Stored responses of a user are deleted when the user is removed, also by a removal that began before this write.
        const wasRemoved = (begun.get(who.id) ?? 0) > endedBefore
        if ((status === success.status && text === success.text) || wasRemoved) return
        complain(`${does} was answered ${success.text}, and under the same key ${status} ${text}`)
      }
      for (const other of others) expectSame(other)
      repeatable.push(async () => expectSame(await send(who, there, does, keyed)))
    }

    /** After a removal, another user, who may not be an owner, tries to invite the user again; or to restore the archived board. */
    const askIn = async ({ status, body }: ApiResponse, { id: user_id }: FoldUser, dice: Dice) => {
      const code = status >= 400 && (body as Failure).code
      const friend = writers[dice.roll(writers.length)] as FoldUser
      const params = { board_id: known.board_id }
      if (code === 'not_a_member') await send(friend, urls[0], 'inviteMember', { params, body: { user_id } })
      if (code === 'board_archived') await send(friend, urls[0], 'restoreBoard', { params })
    }

    /** Inserts cards after the first one until the ranks must be rebalanced. */
    const hammer = async () => {
      const [[founder], [column_id = ''], [after_id = '']] = [users, known.ids.column, known.ids.card]
      const nail = { params: { board_id: known.board_id, column_id }, body: { title: 'Nail', after_id } }
      for (let n = 0; n < size.steps; n++)
        await askIn(await send(founder, urls[n % 2] ?? urls[0], 'createCard', nail), founder, new Dice([n]))
    }

    await Promise.all([...planOf(seed, size).map(client), hammer()])
  }
