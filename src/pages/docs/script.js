// Enhances the docs: search while typing, copy buttons, one language for all samples, the current heading.
// Every page works without it.
const { copy, copied, none } = document.body.dataset;

for (const block of navigator.clipboard ? document.querySelectorAll('.code') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small copy';
  button.textContent = copy;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
    }, 2000);
  });
  block.append(button);
}

// The language that the reader chose last applies to all samples.
const showLanguage = (language) => {
  for (const input of document.querySelectorAll('.samples > input')) {
    if (input.value === language) input.checked = true;
  }
};
const LANGUAGE = 'docs-language';
const chosen = localStorage.getItem(LANGUAGE);
if (chosen) showLanguage(chosen);
for (const input of document.querySelectorAll('.samples > input')) {
  input.addEventListener('change', () => {
    localStorage.setItem(LANGUAGE, input.value);
    showLanguage(input.value);
  });
}

// The chapter of this page may be outside the list, and the page itself stays where it is.
const current = document.querySelector('.chapters [aria-current]');
const chapters = document.querySelector('.chapters');
if (current && chapters.scrollHeight > chapters.clientHeight) {
  chapters.scrollTop = current.offsetTop - chapters.clientHeight / 3;
}

const links = new Map([...document.querySelectorAll('.toc a')].map((link) => [link.hash.slice(1), link]));
const watched = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const link of links.values()) link.classList.remove('here');
      links.get(target.id)?.classList.add('here');
    }
  },
  { rootMargin: '-10% 0px -75% 0px' },
);
for (const id of links.keys()) watched.observe(document.getElementById(id));

// Search while typing. Enter shows all results on a page of their own.
const form = document.querySelector('.bar .find');
const input = form.querySelector('input');
const found = form.querySelector('.found');
let index;
const part = (tag, text) => {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
};
const showResults = async () => {
  index ??= fetch('/docs/search.json').then((response) => response.json());
  const results = findSections(await index, input.value, 8, SYNONYMS);
  found.replaceChildren(
    ...results.map(({ path, title, heading, excerpt }) => {
      const entry = document.createElement('li');
      const link = document.createElement('a');
      link.href = path;
      link.append(part('b', heading), ' ', part('span', title === heading ? excerpt : `${title} · ${excerpt}`));
      entry.append(link);
      return entry;
    }),
  );
  if (results.length === 0) {
    const nothing = part('li', none);
    nothing.className = 'none';
    found.append(nothing);
  }
  found.hidden = input.value.trim() === '';
};
input.addEventListener('input', showResults);
form.addEventListener('keydown', (event) => {
  const places = [input, ...found.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    places[(places.indexOf(document.activeElement) + step + places.length) % places.length].focus();
  } else if (event.key === 'Escape') {
    found.hidden = true;
    input.focus();
  }
});
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (!form.contains(relatedTarget)) found.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
  event.preventDefault();
  input.focus();
});
