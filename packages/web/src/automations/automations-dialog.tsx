import type { AutomationRule } from '@lockstep/client'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { hasLetterKeys } from '../preferences.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { hasCommand, isWriting, Keys } from '../ui/keys.tsx'
import { t } from './messages.ts'
import { NoRules } from './no-rules.tsx'
import { draftKey, readRuleDraft } from './rule-draft.ts'
import { RuleForm } from './rule-form.tsx'
import { editId, RuleRow } from './rule-row.tsx'
import { warningsOf } from './rule-sentence.ts'
import { RunLog } from './run-log.tsx'
import { useRules } from './use-rules.ts'
import './automations.css'

const DEBOUNCE_MS = 1_000

/** The automation rules and their history. Owners can change rules, members can only read them. */
export function AutomationsDialog({ view }: PanelProps) {
  const tools = useTools()
  const board = useShownBoard()
  const [version, refresh] = useVersion(view)
  const { rules, failure, load, save, toggle, remove } = useRules(view.id, version)
  // Reopen an unsaved new rule.
  const [edited, setEdited] = useState<string | undefined>(() =>
    readRuleDraft(draftKey(view.id, undefined)) ? 'new' : undefined,
  )
  const add = useRef<HTMLButtonElement>(null)
  const isOwner = board.isOwner && !board.isReadOnly
  useNewRuleKey(() => isOwner && setEdited('new'))
  const actionsFor = (rule: AutomationRule) => ({
    edit: () => setEdited(rule.id),
    toggle: () => toggle(rule),
    remove: () => remove(rule),
  })
  const closeForm = () => {
    setEdited(undefined)
    // The button that opened the form is rendered again.
    focusAfterRender(() => document.getElementById(editId(edited ?? '')) ?? add.current)
  }
  return (
    <Dialog title={t.title} onClose={() => tools.close()}>
      <div className="dialog-body automations" tabIndex={-1} data-first="">
        {!isOwner && <p className="rule-hint">{board.isReadOnly ? t.archivedBoard : t.onlyOwners}</p>}
        {board.status.phase === 'offline' && (
          <p className="automations-note" role="status">
            {t.offline}
          </p>
        )}
        {!rules && failure === undefined && (
          <p className="quiet-wait" role="status">
            {t.loading}
          </p>
        )}
        {failure !== undefined && <Failure error={failure} onRetry={load} />}
        {rules && rules.length > 0 && (
          <ul className="rules" aria-label={t.rules}>
            {rules.map((rule) =>
              edited === rule.id && isOwner ? (
                <li key={rule.id}>
                  <RuleForm view={view} rule={rule} onSave={save} onDone={closeForm} />
                </li>
              ) : (
                <RuleRow
                  key={rule.id}
                  rule={rule}
                  view={view}
                  warnings={warningsOf(rule, rules, view)}
                  actions={isOwner ? actionsFor(rule) : undefined}
                />
              ),
            )}
          </ul>
        )}
        {rules?.length === 0 && edited !== 'new' && <NoRules view={view} isOwner={isOwner} onSave={save} />}
        {isOwner && rules && edited === 'new' && <RuleForm view={view} onSave={save} onDone={closeForm} />}
        {isOwner && rules && edited !== 'new' && (
          <button ref={add} type="button" className="button automations-add" onClick={() => setEdited('new')}>
            <Icon name="plus" /> {t.newRule} <Keys keys="N" />
          </button>
        )}
        <RunLog view={view} version={version} onRefresh={refresh} />
      </div>
    </Dialog>
  )
}

/** A number that grows after the board has changed (debounced), or at once when `refresh` is called. */
function useVersion(view: PanelProps['view']): [number, () => void] {
  const [version, setVersion] = useState(0)
  const seen = useRef(view)
  useEffect(() => {
    if (seen.current === view) return
    const timer = setTimeout(() => {
      seen.current = view
      setVersion((now) => now + 1)
    }, DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [view])
  return [version, () => setVersion((now) => now + 1)]
}

function useNewRuleKey(act: () => void) {
  const latest = useRef(act)
  useLayoutEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const handleKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'n' || event.altKey || hasCommand(event)) return
      if (isWriting(event.target) || !hasLetterKeys()) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', handleKey)
    return () => removeEventListener('keydown', handleKey)
  }, [])
}
