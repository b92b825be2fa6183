// Enhances the pages of the panel: times in the viewer's zone, pages that refresh themselves, links to copy, progress of
// uploads and downloads. Every page works without it.
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  time.title = `${time.textContent.trim()} UTC`;
  time.textContent = at.toLocaleString(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'medium' });
}

// On a phone the entry of this page may be outside the window.
for (const entry of document.querySelectorAll('.tabs [aria-current]')) {
  entry.scrollIntoView({ block: 'nearest', inline: 'center' });
}

const refresh = document.querySelector('[data-refresh]');
if (refresh) {
  setInterval(() => {
    if (!document.hidden && !document.querySelector('details[open]')) location.reload();
  }, refresh.dataset.refresh * 1000);
}

// The browser offers the clipboard to secure pages only.
const copyOnClick = (button, textOf, copied) => {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(textOf());
    button.textContent = copied;
    setTimeout(() => {
      button.textContent = label;
    }, 2000);
  });
};

// Values with `data-copy` get a button that copies them.
for (const value of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small copy';
  button.textContent = value.dataset.copy;
  copyOnClick(button, () => value.textContent, value.dataset.copied);
  value.after(' ', button);
}

// Links to send to a colleague.
for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy-link]') : []) {
  button.hidden = false;
  copyOnClick(button, () => new URL(button.dataset.copyLink, location.href).href, button.dataset.copied);
}

// Lists whose order is in number fields: buttons move an entry, and a changed number moves it, too.
const numberOf = (entry) => entry.querySelector('.position');
const renumber = (list) => {
  for (const [index, entry] of [...list.children].entries()) numberOf(entry).value = index + 1;
};
for (const entry of document.querySelectorAll('[data-order]')) {
  const list = entry.parentElement;
  for (const button of entry.querySelectorAll('[data-move]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      if (button.dataset.move === 'up') entry.previousElementSibling?.before(entry);
      else entry.nextElementSibling?.after(entry);
      renumber(list);
      button.focus();
      list.closest('form').dispatchEvent(new Event('input'));
    });
  }
  numberOf(entry).addEventListener('change', () => {
    const others = [...list.children].filter((other) => other !== entry);
    const before = others[Math.max(0, Number(numberOf(entry).value) - 1)];
    if (before) before.before(entry);
    else list.append(entry);
    renumber(list);
  });
}

// Chips: a field with several values, separated by commas, shows each by its name, and offers the others.
for (const input of document.querySelectorAll('input[data-chips]')) {
  const options = [...document.getElementById(input.dataset.chips).options];
  const nameOf = (value) => options.find((option) => option.value === value)?.label ?? value;
  const knownValue = (typed) =>
    options.find(({ value, label }) => [value, label].some((text) => text.toLowerCase() === typed.toLowerCase()))
      ?.value;
  const box = document.createElement('div');
  box.className = 'chips';
  const adding = document.createElement('input');
  adding.setAttribute('list', input.dataset.chips);
  adding.ariaLabel = `${input.labels[0].textContent}: ${input.dataset.add}`;
  adding.placeholder = input.dataset.add;
  adding.autocomplete = 'off';
  const values = () => input.value.split(/[\s,]+/).filter(Boolean);
  const show = () => {
    box.replaceChildren(
      ...values().map((value) => {
        const chip = document.createElement('button');
        chip.type = 'button';
        chip.className = 'quiet small chip';
        chip.textContent = `${nameOf(value)} ×`;
        chip.ariaLabel = `${input.dataset.remove}: ${nameOf(value)}`;
        chip.addEventListener('click', () => {
          input.value = values()
            .filter((other) => other !== value)
            .join(', ');
          show();
          adding.focus();
        });
        return chip;
      }),
      adding,
    );
  };
  const add = () => {
    const typed = adding.value.trim();
    if (typed === '') return;
    const value = knownValue(typed) ?? (options.length === 0 || input.dataset.free !== undefined ? typed : undefined);
    adding.setCustomValidity(value === undefined ? input.dataset.unknown : '');
    if (value === undefined) return;
    input.value = [...new Set([...values(), value])].join(', ');
    adding.value = '';
    show();
    adding.focus();
  };
  adding.addEventListener('change', add);
  adding.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ',') return;
    event.preventDefault();
    add();
  });
  adding.addEventListener('input', () => adding.setCustomValidity(''));
  input.after(box);
  input.type = 'hidden';
  show();
}

// A picture of another type is sent as PNG, and a large one is made smaller.
for (const input of document.querySelectorAll('input[data-picture]')) {
  const MOST = 1024;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (!file) return;
    try {
      const bitmap = await createImageBitmap(file);
      const scale = Math.min(1, MOST / Math.max(bitmap.width, bitmap.height));
      if (file.type === 'image/png' && scale === 1) return;
      const canvas = document.createElement('canvas');
      canvas.width = Math.round(bitmap.width * scale);
      canvas.height = Math.round(bitmap.height * scale);
      canvas.getContext('2d').drawImage(bitmap, 0, 0, canvas.width, canvas.height);
      const blob = await new Promise((done) => canvas.toBlob(done, 'image/png'));
      const converted = new DataTransfer();
      converted.items.add(new File([blob], 'logo.png', { type: 'image/png' }));
      input.files = converted.files;
    } catch {
      // The server says what is wrong with the file.
    }
  });
}

// The key / goes to the search, unless somebody is typing.
const search = document.querySelector('.find input');
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, select, textarea, [contenteditable]');
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping || !search) return;
  event.preventDefault();
  search.focus();
});

// Inputs that belong to a choice, such as the currency of an amount, are shown with it: `name value value`.
for (const part of document.querySelectorAll('[data-when]')) {
  const [name, ...values] = part.dataset.when.split(' ');
  const choice = part.closest('form').elements[name];
  const show = () => {
    part.hidden = !values.includes(choice.value);
  };
  choice.addEventListener('change', show);
  show();
}

// A queue is worked by keys: j and k move between its rows, other keys press what has them as `data-key`. The place is
// kept while pages are loaded again: the next row takes that of one which was decided.
const queue = document.querySelector('[data-queue]');
if (queue) {
  const rows = [...queue.querySelectorAll('tbody tr')];
  const help = document.querySelector('[data-keys]');
  const select = (index) => {
    const place = Math.min(Math.max(index, 0), rows.length - 1);
    for (const row of rows) row.ariaCurrent = row === rows[place] ? 'true' : null;
    rows[place].scrollIntoView({ block: 'nearest' });
    sessionStorage.setItem('queue', place);
    return place;
  };
  let place = select(Number(sessionStorage.getItem('queue')));
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest?.('input, select, textarea, summary, [contenteditable]');
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    // On a button or a link, the Enter key does what it says.
    if (event.key === 'Enter' && event.target.closest?.('button, a')) return;
    if (event.key === 'j' || event.key === 'k') place = select(place + (event.key === 'j' ? 1 : -1));
    else if (event.key === '?' && help) help.open = !help.open;
    else {
      const target = rows[place].querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      if (!target || event.repeat) return;
      if (!target.dataset.confirm || confirm(target.dataset.confirm)) target.click();
    }
    event.preventDefault();
  });
}

// The preview follows what is typed into its form.
const preview = document.querySelector('[data-preview]');
if (preview) {
  const { elements } = preview.closest('form');
  const colour = elements['branding.colour'];
  const frame = preview.querySelector('iframe');
  const notes = preview.querySelector('[data-preview-notes]');
  const button = preview.querySelector('[data-preview-button]');
  if (button) button.hidden = true;
  let last = frame.src;
  let timer;

  const update = async () => {
    const query = new URLSearchParams({ scheme: elements.preview_scheme.value, page: elements.preview_page.value });
    const names = preview.dataset.previewed.split(' ');
    for (const [field, value] of new FormData(preview.closest('form'))) {
      // A list or a table of rows has several fields, whose names begin with that of the setting.
      if (names.some((name) => field === name || field.startsWith(`${name}.`))) query.set(field, value.trim());
    }
    const source = `${new URL(preview.dataset.preview, location)}?${query}`;
    if (source === last) return;
    last = source;
    frame.contentWindow.location.replace(source);
    const answer = await fetch(`${preview.dataset.preview}/notes?${query}`);
    if (!answer.ok || source !== last) return;
    notes.replaceChildren(
      ...(await answer.json()).notes.map((note) => {
        const item = document.createElement('li');
        item.textContent = note;
        return item;
      }),
    );
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(update, 250);
  };
  preview.closest('form').addEventListener('input', schedule);

  // A colour picker beside the text of the colour, which can be empty.
  const picker = document.createElement('input');
  picker.type = 'color';
  picker.className = 'picker';
  picker.ariaLabel = colour.labels[0].textContent;
  picker.disabled = colour.matches(':disabled');
  const isColour = (text) => /^#[0-9a-f]{6}$/i.test(text);
  if (isColour(colour.value)) picker.value = colour.value;
  picker.addEventListener('input', () => {
    colour.value = picker.value;
  });
  colour.addEventListener('input', () => {
    if (isColour(colour.value)) picker.value = colour.value;
  });
  colour.after(picker);
}

for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}

const countText = (number) => number.toLocaleString();
const sizeText = (bytes) => {
  const [number, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${number.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`;
};

// Downloads: shows how many rows have arrived. Where the browser can write files the rows go to the disk at once,
// otherwise into a blob.
for (const link of document.querySelectorAll('a[data-export]')) {
  const output = link.parentElement.querySelector('output');
  link.addEventListener('click', async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.ariaDisabled === 'true') return;
    const { progress, progressOf, done, failed } = link.dataset;
    let rows = -1;
    let bytes = 0;
    const show = (text, total) => {
      const values = {
        rows: countText(Math.max(rows, 0)),
        total: total && countText(Number(total)),
        size: sizeText(bytes),
      };
      output.textContent = text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
      output.hidden = false;
    };
    try {
      const named = `${link.pathname.split('/').at(-1).replace('.csv', '')}-${new Date().toISOString().slice(0, 10)}.csv`;
      const handle = await window.showSaveFilePicker?.({ suggestedName: named });
      link.ariaDisabled = 'true';
      const response = await fetch(link.href);
      if (!response.ok || response.redirected) throw new Error(String(response.status));
      const total = response.headers.get('x-estimated-rows');
      let shownAt = 0;
      const counter = new TransformStream({
        transform(chunk, controller) {
          bytes += chunk.length;
          for (const byte of chunk) if (byte === 10) rows++;
          if (Date.now() - shownAt > 200) {
            show(total ? progressOf : progress, total);
            shownAt = Date.now();
          }
          controller.enqueue(chunk);
        },
      });
      const body = response.body.pipeThrough(counter);
      if (handle) await body.pipeTo(await handle.createWritable());
      else {
        const [, name = named] = /filename="([^"]+)"/.exec(response.headers.get('content-disposition')) ?? [];
        const file = document.createElement('a');
        file.href = URL.createObjectURL(await new Response(body).blob());
        file.download = name;
        file.click();
        setTimeout(() => URL.revokeObjectURL(file.href), 60_000);
      }
      show(done);
    } catch (error) {
      // The operator closed the dialogue that asks for the file.
      if (error.name !== 'AbortError') show(failed);
    }
    link.ariaDisabled = 'false';
  });
}

// Uploads: shows how much has been sent. The answer is a redirect to the page of the file.
for (const form of document.querySelectorAll('form[data-upload]')) {
  const panel = form.querySelector('.upload');
  const [bar, output, button] = ['progress', 'output', 'button'].map((name) => form.querySelector(name));
  form.addEventListener('submit', (event) => {
    const [file] = form.elements.file.files;
    if (!file) return;
    event.preventDefault();
    panel.hidden = false;
    const stop = (text) => {
      bar.hidden = true;
      button.disabled = false;
      output.textContent = text;
    };
    if (file.size > Number(form.dataset.most)) {
      stop(form.dataset.tooLarge);
      return;
    }
    bar.hidden = false;
    button.disabled = true;
    const request = new XMLHttpRequest();
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      bar.value = (100 * loaded) / total;
      output.textContent = `${form.dataset.upload}: ${sizeText(loaded)} / ${sizeText(total)}`;
    });
    request.addEventListener('error', () => stop(form.dataset.failed));
    request.addEventListener('load', () => {
      const page = new URL(request.responseURL);
      if (request.status === 200 && page.pathname !== new URL(form.action).pathname) location.assign(page);
      // The file was refused: sent without the script, the answer shows why.
      else form.submit();
    });
    request.open('POST', form.action);
    request.send(new FormData(form));
  });
}

// Passkeys: a form with `data-passkey` gets its options from the server and sends the browser's result. Without
// JavaScript, or at an address that passkeys do not belong to, its button stays hidden.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const { passkey: call, rp, options: source } = form.dataset;
  const isHere = rp === location.hostname;
  const isSupported = window.PublicKeyCredential?.parseRequestOptionsFromJSON && isHere;
  for (const element of form.querySelectorAll('[data-passkey-off]')) element.hidden = isSupported;
  for (const element of document.querySelectorAll('[data-passkey-elsewhere]')) element.hidden = isHere;
  if (!isSupported) continue;
  for (const element of document.querySelectorAll('[data-passkey-on]')) element.hidden = false;
  const button = form.querySelector('button[data-passkey-button]');
  const failure = form.querySelector('[data-passkey-failed]');
  button.type = 'submit';
  let waiting = new AbortController();

  const use = async (mediation) => {
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const { options, state } = await (await fetch(source, { signal })).json();
    let credential;
    if (call === 'create') {
      const typed = new FormData(form);
      options.user.name = typed.get('email') || options.user.name;
      options.user.displayName = typed.get('name') || options.user.name;
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      credential = await navigator.credentials.create({ publicKey, signal });
    } else {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      credential = await navigator.credentials.get({ publicKey, signal, ...(mediation && { mediation }) });
    }
    form.elements.state.value = state;
    form.elements.credential.value = JSON.stringify(credential.toJSON());
    form.action = button.formAction;
    form.submit();
  };

  form.addEventListener('submit', async (event) => {
    if (event.submitter !== button) return;
    event.preventDefault();
    button.disabled = true;
    failure.hidden = true;
    try {
      await use();
    } catch {
      failure.hidden = false;
      button.disabled = false;
    }
  });

  // The browser offers passkeys in the list of the e-mail field, too.
  if (call === 'get' && document.querySelector('[autocomplete~=webauthn]')) {
    PublicKeyCredential.isConditionalMediationAvailable?.()
      .then((isAvailable) => isAvailable && use('conditional'))
      .catch(() => undefined);
  }
}

// Fills a text area from a file. A certificate in binary form becomes PEM.
for (const input of document.querySelectorAll('input[data-fills]')) {
  input.hidden = false;
  input.addEventListener('change', async () => {
    const [file] = input.files;
    if (!file) return;
    const text = await file.text();
    const { fills, der } = input.dataset;
    const area = document.getElementById(fills);
    if (text.includes('-----BEGIN') || !der) area.value = text;
    else {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
      area.value = `-----BEGIN ${der}-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END ${der}-----`;
    }
    input.value = '';
  });
}
