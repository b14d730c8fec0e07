import type { AutomationRule, CreateRuleInput } from '@lockstep/client'
import { useCallback, useEffect, useState } from 'react'
import { client } from '../session.ts'

export type RuleInput = Omit<CreateRuleInput, 'board_id'>

/** The rules of a board. They are no part of the live board: they are asked for, and asked for again at each `version`. */
export function useRules(board_id: string, version: number) {
  const [rules, setRules] = useState<readonly AutomationRule[]>()
  const [failure, setFailure] = useState<unknown>()
  const load = useCallback(() => {
    setFailure(undefined)
    client.listRules({ board_id }).then(setRules, setFailure)
  }, [board_id])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each version is a reason to load
  useEffect(load, [load, version])

  return {
    rules,
    failure,
    load,
    /** Makes a rule, or changes the one with this id. */
    save: async (input: RuleInput, rule_id?: string): Promise<AutomationRule> => {
      if (rule_id === undefined) {
        const made = await client.createRule({ board_id, ...input })
        setRules((now = []) => [...now.filter(({ id }) => id !== made.id), made])
        return made
      }
      const { is_enabled, ...fields } = input
      const changed = await client.updateRule({ rule_id, ...fields, is_enabled: is_enabled ?? true })
      setRules((now) => now?.map((rule) => (rule.id === rule_id ? changed : rule)))
      return changed
    },
    toggle: async ({ id: rule_id, is_enabled }: AutomationRule) => {
      const changed = await client.updateRule({ rule_id, is_enabled: !is_enabled })
      setRules((now) => now?.map((rule) => (rule.id === rule_id ? changed : rule)))
    },
    remove: async ({ id: rule_id }: AutomationRule) => {
      await client.deleteRule({ rule_id })
      setRules((now) => now?.filter(({ id }) => id !== rule_id))
    },
  }
}
