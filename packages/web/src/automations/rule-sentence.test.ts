import type { AutomationRule, FullBoard } from '@lockstep/client'
import { describe, expect, test } from 'vitest'
import { ruleSentence, suggestedName, warningsOf } from './rule-sentence.ts'

const column = (id: string, title: string) => ({
  id,
  board_id: 'b',
  title,
  rank: 1,
  color: '#888888',
  is_done_column: false,
  cards: [],
})
const grace = {
  id: 'grace',
  email: 'grace@example.com',
  username: 'grace',
  firstname: 'Grace',
  lastname: 'Hopper',
  is_active: true,
  is_verified: true,
  is_superuser: false,
}
const view: FullBoard = {
  id: 'b',
  title: 'Release',
  description: null,
  archived_at: null,
  created_by: 'grace',
  updated_by: 'grace',
  labels: [{ id: 'bug', board_id: 'b', name: 'bug', color: '#d33333' }],
  members: [{ board_id: 'b', user_id: 'grace', role: 'owner', user: grace }],
  columns: [column('review', 'Review'), column('done', 'Done')],
}
const toReview: AutomationRule = {
  id: 'r1',
  board_id: 'b',
  name: 'Reviews',
  trigger_type: 'CARD_MOVED',
  trigger_column_id: 'review',
  trigger_label_id: null,
  action_type: 'ASSIGN_MEMBER',
  action_column_id: null,
  action_user_id: 'grace',
  is_enabled: true,
}
const onBug: AutomationRule = {
  ...toReview,
  id: 'r2',
  name: 'Bugs',
  trigger_type: 'LABEL_ADDED',
  trigger_column_id: null,
  trigger_label_id: 'bug',
  action_type: 'MOVE_TO_COLUMN',
  action_column_id: 'review',
  action_user_id: null,
}
const textsOf = (rule: AutomationRule, rules: AutomationRule[] = []) =>
  warningsOf(rule, rules, view).map(({ text }) => text)

describe('rules', () => {
  test('[WEB-42] a rule is one sentence, and its default name is derived from it', () => {
    expect(ruleSentence(toReview, view)).toBe('When a card moves to Review, assign Grace Hopper.')
    expect(ruleSentence(onBug, view)).toBe('When a card gets the label “bug”, move it to Review.')
    expect(suggestedName(toReview, view)).toBe('Review: assign Grace Hopper')
    expect(suggestedName(onBug, view)).toBe('bug: move to Review')
  })
  test('[WEB-42] a valid rule has no warning', () => {
    expect(textsOf(toReview)).toEqual([])
    expect(textsOf(onBug)).toEqual([])
  })
  test('[WEB-42] deleted references are named', () => {
    expect(textsOf({ ...toReview, trigger_column_id: null })).toEqual(['This rule refers to a deleted column.'])
    expect(textsOf({ ...toReview, action_user_id: 'linus' })).toEqual(['This rule refers to a removed member.'])
    expect(textsOf({ ...onBug, trigger_label_id: 'x', action_column_id: 'x' })).toEqual([
      'This rule refers to a deleted label.',
      'This rule refers to a deleted column.',
    ])
    expect(ruleSentence({ ...toReview, trigger_column_id: null, action_user_id: null }, view)).toBe(
      'When a card moves to a deleted column, assign a removed member.',
    )
  })
  test('[WEB-42] a rule that seems to trigger another one says that rules do not chain', () => {
    expect(textsOf(onBug, [toReview, onBug])).toEqual([
      'Rules don’t trigger other rules: “Reviews” won’t run for cards that this rule moves to Review.',
    ])
    expect(textsOf(onBug, [{ ...toReview, is_enabled: false }, onBug])).toEqual([])
  })
  test('[WEB-42] a rule without any effect says so', () => {
    expect(textsOf({ ...toReview, trigger_type: 'CARD_CREATED' })).toEqual([
      'This rule never runs: creating a card doesn’t trigger rules.',
    ])
    expect(textsOf({ ...toReview, action_type: 'MOVE_TO_COLUMN', action_column_id: 'review' })).toEqual([
      'This rule does nothing: the card is already in Review.',
    ])
  })
})
