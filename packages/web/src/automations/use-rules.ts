import type { AutomationRule, CreateRuleInput } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

export type RuleInput = Omit<CreateRuleInput, 'board_id'>

/** The rules of a board. They are no part of the live board: they are asked for, and asked for again at each `version`. */
export function useRules(board_id: string, version: number) {
  const [rules, setRules] = useState<readonly AutomationRule[]>()
  const [failure, setFailure] = useState<unknown>()
  /** Grows with every change that is made here: a list that was asked for before it may not show it. */
  const changes = useRef(0)
  const load = useCallback(() => {
    setFailure(undefined)
    const asked_at = changes.current
    const take = (found: readonly AutomationRule[]) => (asked_at === changes.current ? setRules(found) : load())
    client.listRules({ board_id }).then(take, setFailure)
  }, [board_id])
  const change = async <T>(
    work: Promise<T>,
    show: (rules: readonly AutomationRule[], result: T) => readonly AutomationRule[],
  ) => {
    changes.current++
    const result = await work
    changes.current++
    setRules((now = []) => show(now, result))
    return result
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: each version is a reason to load
  useEffect(load, [load, version])

  return {
    rules,
    failure,
    load,
    /** Makes a rule, or changes the one with this id. */
    save: ({ is_enabled, ...fields }: RuleInput, rule_id?: string): Promise<AutomationRule> =>
      rule_id === undefined
        ? change(client.createRule({ board_id, ...fields, ...(is_enabled != null && { is_enabled }) }), withRule)
        : change(client.updateRule({ rule_id, ...fields, is_enabled: is_enabled ?? true }), withRule),
    toggle: async ({ id: rule_id, is_enabled }: AutomationRule) => {
      await change(client.updateRule({ rule_id, is_enabled: !is_enabled }), withRule)
    },
    remove: async ({ id: rule_id }: AutomationRule) => {
      await change(client.deleteRule({ rule_id }), (now) => now.filter(({ id }) => id !== rule_id))
    },
  }
}

/** A rule in its place among the others, or behind them. */
const withRule = (rules: readonly AutomationRule[], rule: AutomationRule) =>
  rules.some(({ id }) => id === rule.id) ? rules.map((each) => (each.id === rule.id ? rule : each)) : [...rules, rule]
