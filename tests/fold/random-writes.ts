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

    /** Attempted removals by user. */
    const removalsOf = new Map<string, number>()
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
      if (does === 'removeMember' && removed) removalsOf.set(removed, (removalsOf.get(removed) ?? 0) + 1)
      if (how === 'plain') return askIn(await send(who, here, does, inputs as never), who, dice)
      const removals = () => removalsOf.get(who.id) ?? 0
      const before = removals()
      const keyed = { ...inputs, headers: { 'idempotency-key': randomUUID() } } as never
      const attempts = [send(who, here, does, keyed)]
      if (how === 'twice at once') attempts.push(send(who, there, does, keyed))
      // Either may fail on its own, before the other changes the board.
      const [success, ...others] = (await Promise.all(attempts)).filter(({ status }) => status < 400)
      if (!success) return
      const expectSame = ({ status, text }: ApiResponse) => {
        // Stored responses of a user are deleted when the user is removed.
        if ((status === success.status && text === success.text) || removals() > before) return
        complain(`${does} was answered ${success.text}, and under the same key ${status} ${text}`)
      }
      for (const other of others) expectSame(other)
      repeatable.push(async () => expectSame(await send(who, there, does, keyed)))
    }

    /** After a removal, another user, who may not be an owner, tries to invite the user again. */
    const askIn = async ({ status, body }: ApiResponse, { id: user_id }: FoldUser, dice: Dice) => {
      if (status !== 403 || (body as Failure).code !== 'not_a_member') return
      const friend = writers[dice.roll(writers.length)] as FoldUser
      await send(friend, urls[0], 'inviteMember', { params: { board_id: known.board_id }, body: { user_id } })
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
