// The script of the payment pages. It improves them; they also work without it.
(() => {
  const { body } = document;
  const all = (selector) => [...document.querySelectorAll(selector)];
  // A payer who used the back button stays on the page: it does not redirect by itself.
  let isBack =
    performance.getEntriesByType('navigation')[0]?.type === 'back_forward' || /returned=back/.test(location.search);
  const reload = () => location.replace(location.pathname + (isBack ? '?returned=back' : location.search));
  const announce = (text) => {
    document.getElementById('said').textContent = text;
  };

  // Converts Arabic, Persian and Thai digits, and removes everything that is not a digit.
  const digitsOf = (text) => text.replace(/[٠-٩۰-۹๐-๙]/g, (digit) => digit.charCodeAt(0) & 15).replace(/\D/g, '');

  // Replaces the text of an input and keeps the caret behind the same digit.
  const write = (input, text) => {
    const before = digitsOf(input.value.slice(0, input.selectionStart)).length;
    const isAtEnd = input.selectionStart === input.value.length;
    input.value = text;
    let caret = 0;
    for (let seen = 0; seen < before && caret < text.length; caret++) if (/\d/.test(text[caret])) seen++;
    if (isAtEnd) caret = text.length;
    if (document.activeElement === input) input.setSelectionRange(caret, caret);
  };

  // The network of the number: its key, name, prefixes, lengths, length of its codes, gaps, and whether it is refused.
  const number = document.getElementById('card_number');
  const networkOf = (digits) => {
    const isIn = (range) => {
      const [first, last = first] = range.split('-');
      const head = digits.slice(0, first.length);
      return head >= first && head <= last;
    };
    const networks = number.dataset.networks.split('\n').map((line) => line.split('|'));
    return networks.find(([, , prefixes]) => prefixes.split(' ').some(isIn));
  };
  const showNetwork = () => {
    const [key, name, , , length] = networkOf(digitsOf(number.value));
    const shown = document.getElementById('network');
    if (shown.textContent !== name) shown.textContent = name;
    for (const item of all('[data-network]')) item.toggleAttribute('data-on', item.dataset.network === key);
    const { dataset } = document.getElementById('card_cvv');
    dataset.length = all('[data-code]:has(:checked)')[0]?.dataset.code ?? length;
    dataset.wrong = dataset[`wrong-${dataset.length}`];
    document.getElementById('card_cvv-hint').textContent = dataset[`hint-${dataset.length}`];
  };
  for (const choice of all('[name=saved_card]')) choice.addEventListener('change', showNetwork);

  const format = {
    number(input) {
      const digits = digitsOf(input.value);
      const [, , , lengths, , gaps] = networkOf(digits).map((part) => part.split(','));
      write(
        input,
        digits.slice(0, lengths.pop()).replace(/./g, (digit, at) => (gaps.includes(`${at}`) ? ' ' : '') + digit),
      );
      showNetwork();
    },
    expiry(input, event) {
      if (event.inputType?.startsWith('delete')) return;
      let digits = digitsOf(input.value).slice(0, 6);
      if (/^[2-9]|^1[3-9]/.test(digits)) digits = `0${digits}`;
      write(input, digits.length < 2 ? digits : `${digits.slice(0, 2)}/${digits.slice(2)}`);
    },
    cvv(input) {
      write(input, digitsOf(input.value).slice(0, 4));
    },
  };

  const isLuhnValid = (digits) =>
    [...digits].reverse().reduce((sum, digit, index) => {
      const value = Number(digit) * ((index % 2) + 1);
      return sum + (value > 9 ? value - 9 : value);
    }, 0) %
      10 ===
    0;

  // Each returns the message about an input that is wrong.
  const checks = {
    number(text, { wrong, refused }) {
      const digits = digitsOf(text);
      const [, name, , lengths, , , isRefused] = networkOf(digits);
      if (!lengths.split(',').includes(`${digits.length}`) || !isLuhnValid(digits)) return wrong;
      return isRefused && refused.replace('{network}', name);
    },
    expiry(text, { wrong, now, expired }) {
      const [, month, year] = /^\s*(0?[1-9]|1[0-2])\s*\/\s*(?:20)?(\d\d)\s*$/.exec(text) ?? [];
      return month ? year + month.padStart(2, 0) < now && expired : wrong;
    },
    cvv: (text, { wrong, length }) => (RegExp(`^\\d{${+length || '3,4'}}$`).test(text.trim()) ? '' : wrong),
    email: (text, { wrong }) => (/^\S+@\S+\.\S+$/.test(text.trim()) ? '' : wrong),
  };

  const problemOf = (input) => {
    if (input.offsetParent === null) return '';
    const { dataset, value } = input;
    const isBlank = input.type === 'checkbox' ? !input.checked : value.trim() === '';
    if (isBlank) return input.required ? (dataset.blank ?? dataset.wrong ?? input.form.dataset.blank) : '';
    return checks[dataset.check]?.(value, dataset) || '';
  };

  const showError = (id, problem) => {
    const error = document.getElementById(`${id}-error`);
    error.textContent = problem;
    error.hidden = problem === '';
    const input = document.getElementById(id);
    if (problem) input?.setAttribute('aria-invalid', 'true');
    else input?.removeAttribute('aria-invalid');
  };
  // Validates an input and shows its problem beside it.
  const isWrong = (input) => {
    const problem = problemOf(input);
    showError(input.id, problem);
    return problem !== '';
  };

  // Says in the form what has happened to it.
  const notice = document.getElementById('notice');
  const showNotice = (title, text) => {
    notice.hidden = text === '';
    notice.role = 'alert';
    notice.className = 'notice';
    const [heading, line] = notice.children;
    heading.textContent = title;
    heading.hidden = title === '';
    line.textContent = text;
    if (text) notice.scrollIntoView({ block: 'nearest' });
  };

  const setBusy = (form, isBusy) => {
    const button = form.querySelector('button');
    const label = button.dataset.label ?? button.textContent;
    button.dataset.label = label;
    button.textContent = isBusy ? form.dataset.busy : label;
    button.disabled = isBusy;
    form.toggleAttribute('data-sent', isBusy);
    form.setAttribute('aria-busy', isBusy);
  };

  // The browser data of 3-D Secure that the request does not have.
  const { width, height, colorDepth } = screen;
  for (const input of all('[name=browser]'))
    input.value = [width, height, colorDepth, new Date().getTimezoneOffset()].join(' ');

  const inputs = all('form[data-busy] :is([required], [data-check])');
  for (const input of inputs) {
    const { check } = input.dataset;
    input.addEventListener('input', (event) => {
      format[check]?.(input, event);
      if (input.hasAttribute('aria-invalid')) isWrong(input);
    });
    // Only when the focus moves to another input: an error that moves the button would make a click miss it.
    input.addEventListener('blur', ({ relatedTarget }) => {
      if (relatedTarget?.matches('input, select') && input.value.trim() !== '') isWrong(input);
    });
    if (check === 'number' && input.value) format.number(input);
  }
  const targetOf = (element) => element.getAttribute('target') ?? '';

  // The state of the payment, by its version; undefined without an answer.
  const { status, waits } = body.dataset;
  let { version } = body.dataset;
  const askStatus = async () => {
    try {
      const answer = await fetch(status, { cache: 'no-store', signal: AbortSignal.timeout?.(10000) });
      if (answer.ok) return await answer.json();
    } catch {
      // A network error; the next request may succeed.
    }
  };

  // Applies the answer to a form, which stays on the page: what is wrong in it, or that its payment was declined.
  const applyAnswer = (form, answer) => {
    setBusy(form, false);
    showNotice(answer.title, answer.text);
    for (const [id, problem] of Object.entries(answer.problems ?? {})) showError(id, problem);
    if (answer.attempt) {
      // The next submission is another attempt. Only the security code has to be entered again.
      version = answer.version;
      for (const input of all('[name=attempt]')) input.value = answer.attempt;
      for (const input of all('#card_cvv')) input.value = '';
      document.title = document.title.replace(/^.*(?= · )/, answer.title);
      dispatchEvent(new CustomEvent('declined', { detail: version }));
    }
    const next = document.querySelector('[aria-invalid]') ?? document.getElementById('card_cvv');
    next?.focus({ preventScroll: !answer.problems });
  };

  // Without an answer to a form, the state of the payment tells whether it arrived. If it did not, the payer decides
  // whether to send it again: it is the same attempt, which the server submits once.
  const findOut = async (form) => {
    showNotice('', form.dataset.lost);
    for (;;) {
      const now = await askStatus();
      if (now?.version === version) return applyAnswer(form, { title: '', text: form.dataset.again });
      if (now) return now.attempt ? applyAnswer(form, now) : reload();
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
  };

  const send = async (form) => {
    setBusy(form, true);
    showNotice('', '');
    const values = new URLSearchParams(new FormData(form));
    values.set('answer', parent === window ? 'json' : 'framed');
    let answer;
    try {
      const response = await fetch(form.action, { method: 'POST', body: values, signal: AbortSignal.timeout?.(60000) });
      if (response.status < 500) answer = await response.json();
    } catch {
      // A network error: it is not known whether the form arrived.
    }
    if (!answer) return findOut(form);
    if (answer.location) return location.assign(answer.location);
    applyAnswer(form, answer);
  };
  const forms = all('form[data-busy]');
  for (const form of forms) {
    form.addEventListener('submit', (event) => {
      if (form.hasAttribute('data-sent')) return event.preventDefault();
      const wrong = inputs.filter((input) => input.form === form && isWrong(input));
      if (wrong.length > 0) {
        event.preventDefault();
        wrong[0].focus();
      } else if (form.dataset.lost) {
        event.preventDefault();
        send(form);
      } else if (/^(_self|_top|_parent)?$/.test(targetOf(form))) {
        setBusy(form, true);
        // If the submission fails, the payer can retry; the server treats it as a repeat of the same submission.
        setTimeout(setBusy, 30000, form, false);
      }
    });
  }
  // Clears the form when the payer leaves, because the browser may keep the page in its back/forward cache.
  addEventListener('pagehide', () => {
    for (const input of inputs) {
      if (input.type === 'checkbox') input.checked = false;
      else input.value = '';
      showError(input.id, '');
    }
    if (number) format.number(number);
    if (notice) notice.hidden = true;
  });

  // Submits the form or follows the link by itself, unless the payer acts first; a new window needs a click.
  const target = document.querySelector('[data-go]');
  if (target && !isBack && targetOf(target) !== '_blank') {
    const showHint = (isOn) => {
      for (const hint of all('[data-with-go]')) hint.hidden = !isOn;
    };
    const go = () => {
      if (document.hidden) return document.addEventListener('visibilitychange', go, { once: true });
      if (target.requestSubmit) target.requestSubmit();
      else target.click();
    };
    const timeout = setTimeout(go, target.dataset.go * 1000);
    showHint(true);
    for (const type of ['keydown', 'pointerdown', 'pagehide']) {
      addEventListener(type, () => {
        clearTimeout(timeout);
        showHint(false);
      });
    }
  }

  // Counts the remaining times down, and announces the last minute once.
  const start = Date.now();
  const pad = (number) => String(number).padStart(2, '0');
  const clocks = all('[data-left]');
  const tick = () => {
    for (const clock of clocks) {
      const left = Math.max(0, Math.round(clock.dataset.left - (Date.now() - start) / 1000));
      if (left < 3600) clock.textContent = `${pad(Math.floor(left / 60))}:${pad(left % 60)}`;
      // More time would only hurry the payer.
      clock.closest('.time').hidden = left > 300;
      if (left <= 60 && clock.dataset.soon) {
        announce(clock.dataset.soon);
        delete clock.dataset.soon;
      }
      if (left === 0) return reload();
    }
    setTimeout(tick, 1000);
  };
  if (clocks.length > 0) tick();

  // Polls the status: continuously while the page waits, otherwise whenever the page becomes visible again.
  let delay = 2000;
  let timer;
  let isPolling = false;
  const poll = async () => {
    // A form that is being sent has an answer of its own.
    if (document.hidden || isPolling || document.querySelector('[data-lost][data-sent]')) return;
    isPolling = true;
    const now = await askStatus();
    if (now && now.version !== version) {
      const form = now.attempt && document.querySelector('[data-lost]');
      if (!form) return reload();
      applyAnswer(form, now);
    }
    isPolling = false;
    clearTimeout(timer);
    if (waits !== undefined) timer = setTimeout(poll, delay);
    delay = Math.min(delay * 1.2, 15000);
  };
  const pollNow = () => {
    clearTimeout(timer);
    delay = 2000;
    if (status) poll();
  };
  if (waits !== undefined) timer = setTimeout(poll, delay);
  document.addEventListener('visibilitychange', pollNow);
  addEventListener('focus', pollNow);
  // A page that the browser restored gets an enabled button, and polls whether the payment has changed.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    for (const form of forms) setBusy(form, false);
    isBack = true;
    isPolling = false;
    pollNow();
  });

  for (const button of all('[data-print]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }

  // Buttons that copy an account number.
  const buttons = all('[data-copied]');
  for (const button of buttons) {
    const { copy, copied } = button.dataset;
    button.hidden = !navigator.clipboard;
    button.addEventListener('click', async () => {
      const value = button.parentElement.nextElementSibling;
      // Screen readers announce a repeated text only if it was removed in between.
      announce('');
      try {
        await navigator.clipboard.writeText(value.textContent);
        for (const each of buttons) {
          each.textContent = each === button ? copied : copy;
          each.ariaLabel = `${each.textContent}: ${each.previousSibling.data}`;
        }
        announce(button.ariaLabel);
      } catch {
        // Frames may forbid clipboard access; selected text can be copied manually.
        getSelection().selectAllChildren(value);
      }
    });
  }
})();
