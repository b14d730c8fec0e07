import { type EventData as ContractEventData, operations as contract, type events } from '@lockstep/contract'
import type { Body, Params, Query, Returns } from '@lockstep/contract/operation'
import type { ProblemCode as ContractProblemCode } from '@lockstep/contract/problems'
import type { LoggedEvent as ContractLoggedEvent } from '@lockstep/contract/realtime'
import { expect, test } from 'vitest'
import type { BoardEvent, EventData, EventKind, LoggedEvent, OperationName, Operations, ProblemCode } from './index.ts'
import { operations } from './operations.gen.ts'

/** Types that are assignable to each other and have the same fields, including optional ones. */
type Same<A, B> = [A, keyof A] extends [B, keyof B] ? ([B, keyof B] extends [A, keyof A] ? true : false) : false
/** `true` if the union is empty; otherwise the names, which the compiler then prints. */
type None<Names> = [Names] extends [never] ? true : Names

type Contract = typeof contract
type Flat<N extends keyof Contract> = Params<Contract[N]> &
  Query<Contract[N]> &
  (Body<Contract[N]> extends undefined ? Record<never, never> : Body<Contract[N]>)
type IsEmpty<T> = keyof T extends never ? true : false
type InputIsSame<N extends OperationName> =
  IsEmpty<Flat<N>> extends true
    ? Operations[N]['input'] extends Record<string, never>
      ? true
      : false
    : Same<Operations[N]['input'], Flat<N>>
type OtherInputs = { [N in OperationName]: InputIsSame<N> extends true ? never : N }[OperationName]
type OtherResults = {
  [N in OperationName]: Same<Operations[N]['result'], Returns<Contract[N]>> extends true ? never : N
}[OperationName]
type OtherEvents = { [K in EventKind]: Same<EventData[K], ContractEventData<K>> extends true ? never : K }[EventKind]

test('[SDK-2] the generated types match the contract and are complete', () => {
  const isSame: {
    names: Same<OperationName, keyof Contract>
    inputs: None<OtherInputs>
    // Only the log has more precise types than the contract, where its data is any object.
    results: Same<OtherResults, 'listEvents' | 'listCardEvents'>
    log: Same<Omit<ContractLoggedEvent, 'type' | 'data' | 'version'>, Omit<LoggedEvent, 'type' | 'data' | 'version'>>
    kinds: Same<EventKind, keyof typeof events>
    events: None<OtherEvents>
    problems: Same<ProblemCode, ContractProblemCode>
  } = { names: true, inputs: true, results: true, log: true, kinds: true, events: true, problems: true }
  expect(isSame).toBeTruthy()
  expect(Object.keys(operations)).toEqual(Object.keys(contract))
})

test('[SDK-2] the comparison of types can fail', () => {
  // @ts-expect-error a field that is missing
  const missing: Same<{ a: string }, { a: string; b: string }> = true
  // @ts-expect-error an optional field that is missing
  const optional: Same<{ a: string }, { a: string; b?: string }> = true
  // @ts-expect-error a field that may be null on one side only
  const nullable: Same<{ a: string }, { a: string | null }> = true
  expect([missing, optional, nullable]).toHaveLength(3)
})

test('[SDK-2] the type of an event determines the type of its data', () => {
  const titleOf = (event: BoardEvent): string => {
    if (event.type === 'card.moved') return event.data.title
    if (event.type === 'board.member_added') return event.data.user.username
    // @ts-expect-error a label has a name, and no title
    if (event.type === 'label.created') return event.data.title
    return event.type
  }
  const envelope = { user_id: null, timestamp: '', version: '1.0' } as const
  expect(titleOf({ type: 'board.deleted', data: { id: '' }, ...envelope })).toBe('board.deleted')
})
