<?php

/**
 * One step of a shop with the plugin, in a double of WordPress and WooCommerce: JSON in a file, and JSON as output.
 *
 * The double has what the plugin calls for orders, payments, refunds, callbacks and checks, as WooCommerce 10 documents
 * it: orders with meta data that are stored by `save`, statuses, locks of the database, scheduled actions. It has no
 * checkout, saved cards, subscriptions and admin pages; `npm run woocommerce` runs those in a real WordPress.
 */

declare(strict_types=1);

namespace Automattic\WooCommerce\Caches {
    final class OrderCache
    {
        public function remove(): void
        {
        }
    }
}

namespace {
    const ABSPATH = '/';
    const DB_NAME = 'shop';
    const MINUTE_IN_SECONDS = 60;

    [, $step, $file] = $argv;
    $shop = json_decode((string) file_get_contents($file), true, 16, JSON_THROW_ON_ERROR);
    $outcome = ['status' => null, 'notices' => [], 'answer' => null];
    $actions = [];

    class WP_Error
    {
        public function __construct(public string $code, public string $message)
        {
        }

        public function get_error_message(): string
        {
            return $this->message;
        }
    }

    class WC_Payment_Gateway
    {
        public string $id = '';
        public string $title = '';
        public string $description = '';
        public string $method_title = '';
        public string $method_description = '';
        public string $view_transaction_url = '';
        public bool $has_fields = false;
        /** @var list<string> */
        public array $supports = [];
        /** @var array<string, array<string, string>> */
        public array $form_fields = [];

        public function init_settings(): void
        {
        }

        public function get_option(string $name): string
        {
            return get_option('')[$name] ?? $this->form_fields[$name]['default'];
        }
    }

    class WC_Order
    {
        /** @param array<string, mixed> $row */
        public function __construct(private array $row)
        {
        }

        public function __call(string $name, array $arguments): mixed
        {
            if (str_starts_with($name, 'set_')) {
                return $this->row[substr($name, 4)] = $arguments[0];
            }
            return $this->row[substr($name, 4)] ?? '';
        }

        public function get_id(): int
        {
            return $this->row['id'];
        }

        public function get_customer_id(): int
        {
            return 0;
        }

        public function get_checkout_order_received_url(): string
        {
            return 'https://shop.example/received';
        }

        /** @return list<WC_Order> */
        public function get_refunds(): array
        {
            return array_map(fn (array $row): WC_Order => new WC_Order($row), $this->row['refunds']);
        }

        public function get_meta(string $name): mixed
        {
            return $this->row['meta'][$name] ?? '';
        }

        public function update_meta_data(string $name, mixed $value): void
        {
            $this->row['meta'][$name] = $value;
        }

        public function delete_meta_data(string $name): void
        {
            unset($this->row['meta'][$name]);
        }

        /** A note is stored at once. */
        public function add_order_note(string $note): void
        {
            global $shop;
            $this->row['notes'][] = $note;
            $shop['orders'][$this->get_id()]['notes'][] = $note;
            store();
        }

        public function has_status(string|array $status): bool
        {
            return in_array($this->row['status'], (array) $status, true);
        }

        public function update_status(string $status, string $note): void
        {
            $this->row['status'] = $status;
            $this->add_order_note($note);
            $this->save();
        }

        public function is_paid(): bool
        {
            return $this->has_status(['processing', 'completed']);
        }

        public function needs_payment(): bool
        {
            return $this->has_status(['pending', 'failed']);
        }

        public function payment_complete(string $transaction): bool
        {
            if (!$this->has_status(['on-hold', 'pending', 'failed', 'cancelled'])) {
                return false;
            }
            $this->row['status'] = 'processing';
            $this->row['completions'][] = $transaction;
            $this->save();
            return true;
        }

        public function save_meta_data(): void
        {
            global $shop;
            $shop['orders'][$this->get_id()]['meta'] = $this->row['meta'];
            store();
        }

        public function save(): void
        {
            global $shop;
            $shop['orders'][$this->get_id()] = ['refunds' => $shop['orders'][$this->get_id()]['refunds']] + $this->row;
            store();
        }
    }

    class WC_Order_Refund
    {
        /** @var array<string, mixed> */
        public array $meta = [];

        public function update_meta_data(string $name, mixed $value): void
        {
            $this->meta[$name] = $value;
        }
    }

    /** The locks of the database, as files. */
    final class wpdb
    {
        public string $prefix = 'wp_';
        /** @var resource|null */
        private mixed $held = null;

        public function prepare(string $sql, string|int ...$values): string
        {
            return vsprintf($sql, $values);
        }

        public function get_var(string $sql): string
        {
            global $file;
            $this->held = fopen("$file.lock", 'c');
            return flock($this->held, LOCK_EX) ? '1' : '0';
        }

        public function query(string $sql): void
        {
            flock($this->held, LOCK_UN);
        }
    }
    $wpdb = new wpdb();

    /** The body of the request, which a web server would pass to PHP. */
    final class RequestBody
    {
        public mixed $context;
        private int $at = 0;

        public function stream_open(string $path): bool
        {
            return $path === 'php://input';
        }

        public function stream_read(int $count): string
        {
            global $shop;
            $part = substr(base64_decode($shop['request']['body']), $this->at, $count);
            $this->at += strlen($part);
            return $part;
        }

        public function stream_eof(): bool
        {
            global $shop;
            return $this->at >= strlen(base64_decode($shop['request']['body']));
        }

        public function stream_stat(): array
        {
            return [];
        }
    }

    /** Replaces the file, so that another process never reads a part of it. */
    function store(): void
    {
        global $shop, $file;
        $new = "$file." . getmypid();
        file_put_contents($new, json_encode($shop, JSON_THROW_ON_ERROR));
        rename($new, $file);
    }

    function add_action(string $name, callable $handler): void
    {
        global $actions;
        $actions[$name][] = $handler;
    }

    function add_filter(string $name, callable $handler): void
    {
        add_action($name, $handler);
    }

    function remove_action(string $name): void
    {
        global $actions;
        unset($actions[$name]);
    }

    /** @return array<string, string> */
    function get_option(string $name): array
    {
        global $shop;
        return $shop['settings'];
    }

    /** Reads the order again, because another process may have changed it. */
    function wc_get_order(int $id): WC_Order|false
    {
        global $shop, $file;
        $shop = json_decode((string) file_get_contents($file), true, 16, JSON_THROW_ON_ERROR);
        return isset($shop['orders'][$id]) ? new WC_Order($shop['orders'][$id]) : false;
    }

    /** @param array<string, mixed> $refund */
    function wc_create_refund(array $refund): WC_Order_Refund
    {
        global $shop, $actions;
        $made = new WC_Order_Refund();
        foreach ($actions['woocommerce_create_refund'] ?? [] as $handler) {
            $handler($made);
        }
        $shop['orders'][$refund['order_id']]['refunds'][] = ['amount' => $refund['amount'], 'meta' => $made->meta];
        store();
        return $made;
    }

    function as_schedule_single_action(int $at, string $hook, array $arguments): void
    {
        global $shop;
        $shop['scheduled'][] = $arguments;
        store();
    }

    function as_unschedule_action(string $hook, array $arguments): void
    {
        global $shop;
        $shop['scheduled'] = array_values(array_filter($shop['scheduled'], fn (array $one): bool => $one !== $arguments));
        store();
    }

    function wc_add_notice(string $text): void
    {
        global $outcome;
        $outcome['notices'][] = $text;
    }

    function status_header(int $status): void
    {
        global $outcome;
        $outcome['status'] = $status;
    }

    function add_query_arg(array $parameters, string $address): string
    {
        return "$address?" . http_build_query($parameters);
    }

    function wp_generate_uuid4(): string
    {
        return vsprintf('%s%s-%s-4%s-8%s-%s%s%s', array_map(
            fn (int $digits): string => substr(bin2hex(random_bytes(2)), 0, $digits),
            [4, 4, 4, 3, 3, 4, 4, 4],
        ));
    }

    /** Services of WooCommerce that the plugin asks for, each with the one method that it calls. */
    function service(): object
    {
        return new class {
            public function get(string $name): object
            {
                return new $name();
            }

            public function api_request_url(string $name): string
            {
                return "https://shop.example/wc-api/$name/";
            }

            public function warning(): void
            {
            }
        };
    }

    function WC(): object
    {
        return service();
    }

    function wc_get_container(): object
    {
        return service();
    }

    function wc_get_logger(): object
    {
        return service();
    }

    function __(string $text): string
    {
        return $text;
    }

    function esc_html(string $text): string
    {
        return htmlspecialchars($text);
    }

    function wp_specialchars_decode(string $text): string
    {
        return htmlspecialchars_decode($text);
    }

    function get_bloginfo(): string
    {
        return 'Tea &amp; Cups';
    }

    function plugin_basename(string $path): string
    {
        return basename($path);
    }

    function clean_post_cache(): void
    {
    }

    function nocache_headers(): void
    {
    }

    register_shutdown_function(function (): void {
        global $outcome;
        echo "\n", json_encode($outcome, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES), "\n";
    });

    require $shop['plugin'] . '/turnpike-gateway.php';
    $actions['plugins_loaded'][0]();
    $gateways = $actions['woocommerce_payment_gateways'][0]([]);
    $gateway = new $gateways[0]();

    if ($step === 'pay') {
        $outcome['answer'] = $gateway->process_payment(17);
    } elseif ($step === 'refund') {
        $answer = $gateway->process_refund(17, $shop['refund']);
        $outcome['answer'] = $answer === true ? true : $answer->message;
    } elseif ($step === 'check') {
        [$arguments] = array_splice($shop['scheduled'], 0, 1);
        store();
        $actions['turnpike_check_order'][0](...$arguments);
    } elseif ($step === 'callback') {
        foreach ($shop['request']['headers'] as $name => $value) {
            $key = strtoupper(str_replace('-', '_', $name));
            $_SERVER[$key === 'CONTENT_TYPE' ? $key : "HTTP_$key"] = $value;
        }
        stream_wrapper_unregister('php');
        stream_wrapper_register('php', RequestBody::class);
        $actions['woocommerce_api_turnpike'][0]();
    }
}
