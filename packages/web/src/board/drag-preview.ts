interface Point {
  clientX: number
  clientY: number
}

/** A higher column is shown cut off: a picture of all of it would hide the board. */
const MOST_PX = 400

/** The card or column itself, a little tilted, held where it was taken. */
export function dragPreview(element: HTMLElement, { clientX, clientY }: Point) {
  const { left, top, width, height } = element.getBoundingClientRect()
  return {
    getOffset: () => ({ x: clientX - left + 12, y: clientY - top + 12 }),
    render: ({ container }: { container: HTMLElement }) => {
      const copy = element.cloneNode(true) as HTMLElement
      copy.classList.add('is-carried')
      Object.assign(copy.style, { inlineSize: `${width}px`, blockSize: `${Math.min(height, MOST_PX)}px` })
      const frame = document.createElement('div')
      frame.className = 'carried-frame'
      frame.append(copy)
      container.append(frame)
    },
  }
}
