import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { BackButton } from '../ui/back-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { t } from './messages.ts'
import { RemovedDetail } from './removed-detail.tsx'
import { RemovedFilters } from './removed-filters.tsx'
import { RemovedList } from './removed-list.tsx'
import { noFilter, useRemovedList } from './use-removed-list.ts'
import { useRestore } from './use-restore.tsx'
import './removed.css'

/** The archived and deleted cards and columns of the board. One of them can be opened in place of the list. */
export function RemovedDialog({ view, item }: PanelProps) {
  const tools = useTools()
  const isReadOnly = useReadOnly()
  const [, navigate] = useLocation()
  const isOffline = useOffline()
  const [filter, setFilter] = useState(noFilter)
  const loaded = useRemovedList(view.id, filter, isOffline)
  const actions = useRestore({ onLeave: ({ id }) => loaded.drop([id]) })
  const rows = useRef<HTMLUListElement>(null)
  const openedId = useRef<string>(undefined)
  const isFiltered = filter.as !== '' || filter.kind !== '' || filter.search.trim() !== ''
  useEffect(() => {
    // Back from a row: the focus returns to it.
    const id = openedId.current
    if (item || !id) return
    openedId.current = undefined
    const row = () => rows.current?.querySelector<HTMLElement>(`[data-removed-id="${CSS.escape(id)}"] a`)
    focusAfterRender(() => row() ?? document.querySelector<HTMLElement>('.removed-bar input'))
  }, [item])
  const backToList = () => {
    // One step back in the history, if the list is there.
    if (openedId.current) history.back()
    else navigate(`/b/${view.id}/removed${filterQuery()}`, { replace: true })
  }
  return (
    <Dialog
      title={t.title}
      size={item ? 'wide' : 'medium'}
      hasOwnHeading={item !== undefined}
      onClose={() => tools.close()}
      actions={item && <BackButton key={item} label={t.backToList} onClick={backToList} />}
    >
      {item && <RemovedDetail key={item} view={view} removed_id={item} onBack={backToList} onLeave={loaded.drop} />}
      {!item && <RemovedFilters filter={filter} onChange={setFilter} />}
      {!item && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable with the keyboard
        <section className="dialog-body removed" tabIndex={0} aria-label={t.list} data-first="">
          {isOffline && (
            <p className="removed-notice" role="status">
              {t.offline}
            </p>
          )}
          {isReadOnly && <p className="removed-notice">{t.boardArchived}</p>}
          <RemovedList
            ref={rows}
            loaded={loaded}
            actions={actions}
            label={t.title}
            empty={isFiltered ? t.noMatches : t.nothing}
            onOpen={(id) => {
              openedId.current = id
            }}
          />
          {actions.question}
        </section>
      )}
    </Dialog>
  )
}
