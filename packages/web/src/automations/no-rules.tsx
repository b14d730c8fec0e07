import type { FullBoard } from '@lockstep/client'
import { useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Failure } from '../ui/failure.tsx'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { examplesFor, inputOf, type RuleDraft } from './rule-draft.ts'
import { ruleSentence, suggestedName } from './rule-sentence.ts'
import type { RuleInput } from './use-rules.ts'

interface NoRulesProps {
  view: FullBoard
  isOwner: boolean
  onSave: (input: RuleInput) => Promise<unknown>
}

/** Empty state with two example rules. */
export function NoRules({ view, isOwner, onSave }: NoRulesProps) {
  const { me } = useTools()
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const examples = isOwner ? examplesFor(view, me.id) : []
  const add = async (draft: RuleDraft) => {
    if (isBusy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await onSave(inputOf(draft, suggestedName(draft, view)))
      announce(t.added({ sentence: ruleSentence(draft, view) }))
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <div className="no-rules">
      <p>{t.noRules}</p>
      {examples.map((draft) => (
        <button key={ruleSentence(draft, view)} type="button" className="example" onClick={() => void add(draft)}>
          <Icon name="bolt" />
          <span>{ruleSentence(draft, view)}</span>
          <strong>{t.useRule}</strong>
        </button>
      ))}
      {failure !== undefined && <Failure error={failure} />}
    </div>
  )
}
