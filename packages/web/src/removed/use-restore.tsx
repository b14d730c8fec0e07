import { isLockstepError, type RemovedItem } from '@lockstep/client'
import { type ReactNode, useRef, useState } from 'react'
import { useTools } from '../board-state/board-tools.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { client } from '../session.ts'
import { confirmAction } from '../ui/confirm.ts'
import { errorMessage } from '../ui/failure.tsx'
import { showToast } from '../ui/toasts.ts'
import { ColumnQuestion } from './column-question.tsx'
import { t } from './messages.ts'

/** The fields that the list and the single view have. */
type Removed = Pick<RemovedItem, 'id' | 'kind' | 'title' | 'column_id' | 'card_count'>

/** It is no longer in the archive or the trash. */
export type OnLeave = (item: Removed, how: 'restored' | 'purged' | 'gone') => void
interface RestoreOptions {
  onLeave: OnLeave
  /** The toast after a restore does not offer to open the card. */
  opensCard?: boolean
}

/** Restores and purges. A second click on a button does nothing while the first is sent. */
export function useRestore({ onLeave, opensCard = false }: RestoreOptions) {
  const tools = useTools()
  const { board_id } = tools
  const { view } = useShownBoard()
  const isOffline = useOffline()
  const [busyId, setBusyId] = useState<string>()
  const [asked, setAsked] = useState<Removed>()
  const isBusy = useRef(false)

  const isBack = ({ id }: Removed) =>
    tools.find(id) !== undefined || tools.view.columns.some((column) => column.id === id)
  const attempt = async (item: Removed, act: () => Promise<unknown>) => {
    if (isBusy.current) return false
    if (isOffline) {
      showToast(t.offline)
      return false
    }
    isBusy.current = true
    setBusyId(item.id)
    try {
      await act()
      return true
    } catch (error) {
      if (isLockstepError(error, 'column_required')) setAsked(item)
      else if (isLockstepError(error, 'removed_not_found')) {
        // Another user was faster.
        showToast((isBack(item) ? t.alreadyBack : t.alreadyPurged)({ title: item.title }))
        onLeave(item, 'gone')
      } else showToast(errorMessage(error))
      return false
    } finally {
      isBusy.current = false
      setBusyId(undefined)
    }
  }

  const restore = async (item: Removed, column_id?: string): Promise<void> => {
    const { id: removed_id, kind, title } = item
    const isColumnGone = kind === 'card' && tools.view.columns.every(({ id }) => id !== item.column_id)
    if (isColumnGone && !column_id) return setAsked(item)
    setAsked(undefined)
    const isDone = await attempt(item, () =>
      client.restoreRemoved({ board_id, removed_id, ...(column_id && { column_id }) }, { maxTries: 2 }),
    )
    if (!isDone) return
    const open = { label: t.openCard, run: () => tools.openCard(removed_id) }
    showToast(t.restored({ title }), kind === 'card' && !opensCard ? open : undefined)
    onLeave(item, 'restored')
  }

  const purge = async (item: Removed): Promise<void> => {
    const { id: removed_id, title, card_count } = item
    const text = card_count ? t.purgeColumnText({ count: card_count }) : t.purgeText
    if (!(await confirmAction({ title: t.purgeTitle({ title }), text, action: t.purge }))) return
    if (!(await attempt(item, () => client.purgeRemoved({ board_id, removed_id }, { maxTries: 2 })))) return
    showToast(t.purged({ title }))
    onLeave(item, 'purged')
  }

  const question: ReactNode = asked && (
    <ColumnQuestion
      item={asked}
      columns={view.columns}
      onChoose={(column_id) => void restore(asked, column_id)}
      onClose={() => setAsked(undefined)}
    />
  )
  return { restore, purge, busyId, question }
}
