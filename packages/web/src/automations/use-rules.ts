import type { AutomationRule, CreateRuleInput } from '@lockstep/client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { client } from '../session.ts'

export type RuleInput = Omit<CreateRuleInput, 'board_id'>

/** The rules of a board. They are not part of the live board, so they are reloaded when `version` changes. */
export function useRules(board_id: string, version: number) {
  const [rules, setRules] = useState<readonly AutomationRule[]>()
  const [failure, setFailure] = useState<unknown>()
  /** Counts local changes: a list that was requested before a change may not contain it. */
  const changes = useRef(0)
  const load = useCallback(() => {
    setFailure(undefined)
    const requestedAt = changes.current
    const onLoaded = (found: readonly AutomationRule[]) => (requestedAt === changes.current ? setRules(found) : load())
    client.listRules({ board_id }).then(onLoaded, setFailure)
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version triggers the request
  useEffect(load, [load, version])

  return {
    rules,
    failure,
    load,
    /** Creates a rule, or updates the one with this id. */
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

/** Replaces the rule in the list, or appends it. */
const withRule = (rules: readonly AutomationRule[], rule: AutomationRule) =>
  rules.some(({ id }) => id === rule.id) ? rules.map((each) => (each.id === rule.id ? rule : each)) : [...rules, rule]
