interface Point {
  clientX: number
  clientY: number
}

/** Maximum height: a whole column would hide the board. */
const MAX_HEIGHT_PX = 400

/** The drag image: a tilted copy of the card or column, at the same offset from the pointer. */
export function dragPreview(element: HTMLElement, { clientX, clientY }: Point) {
  const { left, top, width, height } = element.getBoundingClientRect()
  return {
    getOffset: () => ({ x: clientX - left + 12, y: clientY - top + 12 }),
    render: ({ container }: { container: HTMLElement }) => {
      const copy = element.cloneNode(true) as HTMLElement
      copy.classList.add('is-carried')
      Object.assign(copy.style, { inlineSize: `${width}px`, blockSize: `${Math.min(height, MAX_HEIGHT_PX)}px` })
      const frame = document.createElement('div')
      frame.className = 'carried-frame'
      frame.append(copy)
      container.append(frame)
    },
  }
}
