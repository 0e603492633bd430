/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Coroutines for the explorer: a switch must be cheap, there are billions.
 * co_to(i) runs coroutine i until it calls co_back(). One may be abandoned.
 */
#ifndef UB_CO_H
#define UB_CO_H

#include <stdint.h>
#include <stdlib.h>

#define CO_MAX		8
#define CO_STACK	(128 << 10)

#if defined(__SANITIZE_ADDRESS__)
void __asan_unpoison_memory_region(void const volatile *addr, size_t size);
#define co_clean(p)	__asan_unpoison_memory_region(p, CO_STACK)
#else
#define co_clean(p)	do { } while (0)
#endif

static char *co_stack[CO_MAX];
static void (*co_fn)(int);
static int co_cur = -1;

static char *co_stack_of(int i)
{
	if (!co_stack[i])
		co_stack[i] = aligned_alloc(4096, CO_STACK);
	if (!co_stack[i])
		abort();
	co_clean(co_stack[i]);
	return co_stack[i];
}

static void co_back(void);

static void co_main(void)
{
	co_fn(co_cur);
	co_back();
	abort();
}

#if defined(__x86_64__)
static void *co_sp[CO_MAX], *co_main_sp;

void co_switch(void **save, void *load);
__asm__(".text\n.globl co_switch\n.type co_switch, @function\nco_switch:\n"
	"push %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\t"
	"push %r15\n\tmov %rsp, (%rdi)\n\tmov %rsi, %rsp\n\tpop %r15\n\t"
	"pop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n\tret\n"
	".size co_switch, . - co_switch\n");

static void co_make(int i)
{
	void **top = (void **)(co_stack_of(i) + CO_STACK);

	*--top = NULL;		/* the stack is 16 byte aligned at a call */
	*--top = (void *)co_main;
	for (int r = 0; r < 6; r++)
		*--top = NULL;
	co_sp[i] = top;
}

static void co_to(int i)
{
	co_cur = i;
	co_switch(&co_main_sp, co_sp[i]);
	co_cur = -1;
}

static void co_back(void)
{
	co_switch(&co_sp[co_cur], co_main_sp);
}
#else
#include <ucontext.h>
static ucontext_t co_ctx[CO_MAX], co_main_ctx;

static void co_make(int i)
{
	getcontext(&co_ctx[i]);
	co_ctx[i].uc_stack.ss_sp = co_stack_of(i);
	co_ctx[i].uc_stack.ss_size = CO_STACK;
	co_ctx[i].uc_link = NULL;
	makecontext(&co_ctx[i], co_main, 0);
}

static void co_to(int i)
{
	co_cur = i;
	swapcontext(&co_main_ctx, &co_ctx[i]);
	co_cur = -1;
}

static void co_back(void)
{
	swapcontext(&co_ctx[co_cur], &co_main_ctx);
}
#endif

#endif /* UB_CO_H */
