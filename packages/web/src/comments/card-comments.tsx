import { type Card, type Comment, randomId } from '@lockstep/client'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useSearch } from 'wouter'
import { useReadOnly, useTools } from '../board-state/board-tools.ts'
import { MARK_MS } from '../board-state/marks.ts'
import { client } from '../session.ts'
import { confirmAction } from '../ui/confirm.ts'
import { errorMessage, Failure } from '../ui/failure.tsx'
import { focusAfterRender } from '../ui/focus.ts'
import { Icon } from '../ui/icon.tsx'
import { nameOf } from '../ui/people.tsx'
import { showToast } from '../ui/toasts.ts'
import { CommentRow } from './comment-row.tsx'
import { Composer } from './composer.tsx'
import { HistoryRow } from './history-row.tsx'
import { t } from './messages.ts'
import { type HistoryEntry, useCardHistory } from './use-card-history.ts'
import { useComments } from './use-comments.ts'
import '../activity/activity.css'
import './comments.css'

export interface CardCommentsProps {
  card: Card
  isOffline: boolean
  /** The field for a new comment; a shortcut focuses it. */
  area: RefObject<HTMLTextAreaElement | null>
  onAttach: () => void
}
type Row = { at: string; comment: Comment } | { at: string; entry: HistoryEntry }

/** The comments of a card, and on request its history between them. */
export function CardComments({ card, isOffline, area, onAttach }: CardCommentsProps) {
  const tools = useTools()
  const [isAll, setAll] = useState(false)
  const section = useRef<HTMLElement>(null)
  const { comments, put, ...loading } = useComments(tools.board_id, card.id, isOffline)
  const history = useCardHistory(card, isAll)
  const marked = useLinkedComment(loading.loadTo, section)
  const isArchived = useReadOnly()

  // Only what both lists have completely is shown.
  const from = [
    loading.hasEarlier ? comments[0]?.created_at : undefined,
    isAll && history.hasEarlier ? history.oldestAt : undefined,
  ]
    .filter((at) => at !== undefined)
    .toSorted()
    .at(-1)
  const rows: Row[] = [
    ...comments.map((comment) => ({ at: comment.created_at, comment })),
    ...(isAll ? history.entries.map((entry) => ({ at: entry.line.at, entry })) : []),
  ]
    .filter(({ at }) => from === undefined || at >= from)
    .toSorted((one, other) => (one.at === other.at ? 0 : one.at < other.at ? -1 : 1))
  const showEarlier = () => {
    if (isAll && history.hasEarlier && history.oldestAt === from) void history.loadEarlier()
    if (loading.hasEarlier && comments[0]?.created_at === from) void loading.loadEarlier()
  }
  const remove = async (comment: Comment) => {
    const isMine = comment.author.id === tools.me.id
    const title = t.deleteTitle({ name: nameOf(comment.author) })
    const question = { title, text: t.deleteText, action: t.deleteAction }
    if (!isMine && !(await confirmAction(question))) return
    const restore = () => {
      const again = { card_id: comment.card_id, id: randomId(), body: comment.body }
      client.createComment(again).then((created) => put(created.id, created), fail)
    }
    try {
      await client.deleteComment({ comment_id: comment.id })
      put(comment.id, undefined)
      focusAfterRender(() => area.current ?? section.current)
      showToast(t.deleted, isMine ? { label: t.undo, run: restore } : undefined)
    } catch (error) {
      fail(error)
    }
  }
  const retry = () => {
    void loading.load()
    if (isAll) void history.load()
  }
  const failure = loading.failure ?? (isAll ? history.failure : undefined)
  return (
    <section ref={section} className="cd-section comments" aria-label={t.comments} tabIndex={-1}>
      <div className="cd-section-head">
        <Icon name="comment" />
        <h3>{t.comments}</h3>
        {card.comment_count > 0 && <span className="cd-count">{card.comment_count}</span>}
        <span className="spacer" />
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <div className="comments-filter" role="group" aria-label={t.which}>
          <button type="button" aria-pressed={!isAll} onClick={() => setAll(false)}>
            {t.comments}
          </button>
          <button type="button" aria-pressed={isAll} onClick={() => setAll(true)}>
            {t.allActivity}
          </button>
        </div>
      </div>
      {failure !== undefined && <Failure error={failure} onRetry={retry} />}
      {from !== undefined && (
        <button
          type="button"
          className="button is-quiet comments-earlier"
          aria-disabled={loading.isLoading}
          onClick={() => !loading.isLoading && showEarlier()}
        >
          {loading.isLoading ? t.loading : t.showEarlier}
        </button>
      )}
      {isAll && history.isCut && <p className="activity-end">{t.historyEnd}</p>}
      {!loading.isLoaded && failure === undefined && (
        <p className="quiet-wait" role="status">
          {t.loading}
        </p>
      )}
      {loading.isLoaded && rows.length === 0 && (
        <p className="hint comments-empty">{isArchived ? t.noComments : t.noCommentsHint}</p>
      )}
      <ol className="comments-list">
        {rows.map((row) =>
          'comment' in row ? (
            <CommentRow
              key={row.comment.id}
              comment={row.comment}
              card={card}
              isMarked={row.comment.id === marked}
              onSaved={(saved) => put(saved.id, saved)}
              onDelete={() => void remove(row.comment)}
              onAttach={onAttach}
            />
          ) : (
            <HistoryRow key={row.entry.line.key} entry={row.entry} card={card} />
          ),
        )}
      </ol>
      {!isArchived && (
        <Composer
          card={card}
          area={area}
          isOffline={isOffline}
          onSent={(comment) => put(comment.id, comment)}
          onEscape={() => section.current?.focus()}
          onAttach={onAttach}
        />
      )}
    </section>
  )
}

const fail = (error: unknown) => showToast(errorMessage(error))

/** Loads the comment of the URL, scrolls to it, focuses it and returns its id for some seconds. */
function useLinkedComment(
  loadTo: (id: string) => Promise<boolean>,
  section: RefObject<HTMLElement | null>,
): string | undefined {
  const linked = new URLSearchParams(useSearch()).get('comment')
  const [marked, setMarked] = useState<string>()
  useEffect(() => {
    if (!linked) return
    let isCurrent = true
    const show = async () => {
      const exists = await loadTo(linked)
      if (!isCurrent) return
      if (!exists) return void showToast(t.notFound)
      setMarked(linked)
    }
    void show()
    return () => {
      isCurrent = false
    }
  }, [linked, loadTo])
  useEffect(() => {
    if (!marked) return
    const row = section.current?.querySelector<HTMLElement>(`[data-comment-id="${CSS.escape(marked)}"]`)
    row?.scrollIntoView({ block: 'center' })
    row?.focus({ preventScroll: true })
    const timer = setTimeout(() => setMarked(undefined), MARK_MS)
    return () => clearTimeout(timer)
  }, [marked, section])
  return marked
}
