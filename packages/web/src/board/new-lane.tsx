import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { announce } from '../ui/announcer.tsx'
import { Icon } from '../ui/icon.tsx'
import { TooLong, tooLong } from '../ui/too-long.tsx'
import { useTools } from './board-tools.ts'

const ideas = ['To do', 'Doing', 'Done']

/** Where a lane is added; on a board without any, the three that most begin with. */
export function NewLane({ has_lanes }: { has_lanes: boolean }) {
  const tools = useTools()
  const [title, setTitle] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  const isOpen = title !== undefined
  useEffect(() => {
    if (isOpen) field.current?.focus()
  }, [isOpen])
  const close = () => {
    flushSync(() => setTitle(undefined))
    document.querySelector<HTMLElement>('[data-new-lane]')?.focus()
  }
  const make = () => {
    if (tooLong(title ?? '')) return
    if (title?.trim()) {
      tools.change('createColumn', { title: title.trim() })
      announce(`Lane “${title.trim()}” created.`)
      setTitle('')
    } else close()
  }
  if (!isOpen)
    return (
      <div className="lane-new">
        {!has_lanes && (
          <div className="lane-ideas">
            <p>This board has no lanes yet.</p>
            <button
              type="button"
              className="button is-primary"
              onClick={() => {
                for (const idea of ideas) tools.change('createColumn', { title: idea, is_done_column: idea === 'Done' })
              }}
            >
              Begin with To do, Doing, Done
            </button>
          </div>
        )}
        <button type="button" className="lane-add" data-new-lane="" onClick={() => setTitle('')}>
          <Icon name="plus" /> Add a lane
        </button>
      </div>
    )
  return (
    <form
      className="lane-new"
      onSubmit={(event) => {
        event.preventDefault()
        make()
      }}
    >
      <input
        ref={field}
        className="input"
        aria-label="Title of the new lane"
        placeholder="Title of the lane"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close()
        }}
      />
      <TooLong text={title} />
      <span className="composer-foot">
        <button type="submit" className="button is-primary">
          Add
        </button>
        <button type="button" className="button is-quiet" onClick={close}>
          Done
        </button>
      </span>
    </form>
  )
}
