import { useEffect, useRef } from 'react'
import { useLocation } from 'wouter'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { filterQuery } from '../board-state/filter-address.ts'
import type { PanelProps } from '../board-state/panel-props.ts'
import { useShownBoard } from '../board-state/shown-board.ts'
import { useOffline } from '../board-state/use-offline.ts'
import { BackButton } from '../ui/back-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { t } from './messages.ts'
import { useWebhooks } from './use-webhooks.ts'
import { WebhookDetail } from './webhook-detail.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookList } from './webhook-list.tsx'
import './webhooks.css'

/** The last part of the URL while the form for a new webhook is open. */
const NEW = 'new'

/** The webhooks of the board, for its owners. One of them, or the form for a new one, can be opened in place of the list. */
export function WebhooksDialog(props: PanelProps) {
  const { board_id } = useTools()
  const { isOwner } = useShownBoard()
  const [, navigate] = useLocation()
  useEffect(() => {
    if (!isOwner) navigate(`/b/${board_id}${filterQuery()}`, { replace: true })
  }, [isOwner, board_id, navigate])
  return isOwner && <OwnersDialog {...props} />
}

function OwnersDialog({ view, item }: PanelProps) {
  const tools = useTools()
  const [, navigate] = useLocation()
  const isOffline = useOffline()
  const { webhooks, failure, isOff, load, actions } = useWebhooks(view.id, isOffline)
  const { openedId, backToList } = useRowHistory(view.id, item)
  const isReadOnly = useReadOnly()
  const pathOf = (id: string) => `/b/${view.id}/webhooks/${id}${filterQuery()}`
  const open = (id: string) => {
    openedId.current = id
    navigate(pathOf(id))
  }
  const isNew = item === NEW && !isReadOnly
  const webhook = webhooks?.find(({ id }) => id === item)
  return (
    <Dialog
      title={t.title}
      hasOwnHeading={item !== undefined}
      onClose={() => tools.close()}
      actions={item && <BackButton key={item} label={t.allWebhooks} onClick={backToList} />}
    >
      <div className="dialog-body webhooks-body" tabIndex={-1} data-first={item ? undefined : ''}>
        {isOffline && (
          <p className="webhooks-note" role="status">
            {webhooks ? t.offline : t.offlineUnknown}
          </p>
        )}
        {isReadOnly && <p className="webhooks-note">{t.archivedBoard}</p>}
        {isOff ? (
          <p className="webhooks-note">{t.off}</p>
        ) : (
          failure !== undefined && !isOffline && <Failure error={failure} onRetry={load} />
        )}
        {!webhooks && failure === undefined && !isOffline && (
          <p className="quiet-wait" role="status">
            {t.loading}
          </p>
        )}
        {webhooks && !item && (
          <>
            <p className="webhooks-hint">{webhooks.length === 0 ? `${t.none} ${t.hint}` : t.hint}</p>
            {webhooks.length > 0 && (
              <WebhookList
                webhooks={webhooks}
                onOpen={(id) => {
                  openedId.current = id
                }}
              />
            )}
            {!isReadOnly && (
              <button
                type="button"
                className="button webhooks-add"
                data-webhook-id={NEW}
                onClick={() => openedId.current !== NEW && open(NEW)}
              >
                <Icon name="plus" /> {t.newWebhook}
              </button>
            )}
          </>
        )}
        {webhooks && isNew && (
          <WebhookForm
            onSave={(input) => actions.create(input)}
            onSaved={({ id }) => {
              // Without the entry of the form in the browser history: Back returns to the list.
              navigate(pathOf(id), { replace: true })
              if (openedId.current) openedId.current = id
            }}
            onCancel={backToList}
          />
        )}
        {webhook && (
          <WebhookDetail
            key={webhook.id}
            webhook={webhook}
            actions={actions}
            isReadOnly={isReadOnly}
            onDeleted={backToList}
          />
        )}
        {webhooks && item && !isNew && !webhook && <p className="webhooks-hint">{t.gone}</p>}
      </div>
    </Dialog>
  )
}

/** Back from a row to the list, where the row has the focus again. */
function useRowHistory(board_id: string, item: string | undefined) {
  const [, navigate] = useLocation()
  /** The row that was opened from the list: then the list is in the browser history. */
  const openedId = useRef<string>(undefined)
  useEffect(() => {
    const id = openedId.current
    if (item || !id) return
    openedId.current = undefined
    const rowOf = (of: string) => document.querySelector<HTMLElement>(`[data-webhook-id="${CSS.escape(of)}"]`)
    focusAfterRender(() => rowOf(id) ?? rowOf(NEW))
  }, [item])
  const backToList = () => {
    if (openedId.current) history.back()
    else navigate(`/b/${board_id}/webhooks${filterQuery()}`, { replace: true })
  }
  return { openedId, backToList }
}
