import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTools } from '../board-state/board-tools.ts'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { t } from './messages.ts'

const starterColumns = [t.toDoColumn, t.doingColumn, t.doneColumn]

/** Adds a column. On an empty board it also offers three starter columns. */
export function NewColumn({ hasColumns }: { hasColumns: boolean }) {
  const tools = useTools()
  const [title, setTitle] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const isOpen = title !== undefined
  useEffect(() => {
    if (isOpen) field.current?.focus()
  }, [isOpen])
  const close = () => {
    flushSync(() => setTitle(undefined))
    document.querySelector<HTMLElement>('[data-new-column]')?.focus()
  }
  const create = () => {
    if (tooLong(title ?? '')) return
    if (title?.trim()) {
      tools.change('createColumn', { title: title.trim() })
      announce(t.createdColumn({ title: title.trim() }))
      setTitle('')
    } else close()
  }
  if (!isOpen)
    return (
      <div className="column-new">
        {!hasColumns && (
          <div className="column-ideas">
            <p>{t.noColumns}</p>
            <button
              type="button"
              className="button is-primary"
              onClick={() => {
                for (const starter of starterColumns)
                  tools.change('createColumn', { title: starter, is_done_column: starter === t.doneColumn })
              }}
            >
              {t.startWithColumns}
            </button>
          </div>
        )}
        <button type="button" className="column-add" data-new-column="" onClick={() => setTitle('')}>
          <Icon name="plus" /> {t.addColumn}
        </button>
      </div>
    )
  return (
    <form
      className="column-new"
      onSubmit={(event) => {
        event.preventDefault()
        create()
      }}
    >
      <input
        ref={field}
        className="input"
        dir="auto"
        aria-label={t.newColumnName}
        placeholder={t.columnName}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close()
        }}
      />
      <TooLong text={title} />
      <span className="composer-foot">
        <button type="submit" className="button is-primary">
          {t.addColumn}
        </button>
        <button type="button" className="button is-quiet" onClick={close}>
          {t.cancel}
        </button>
      </span>
    </form>
  )
}
