# SPDX-License-Identifier: MIT
#
# libub: build/lib/libub.a and build/lib/libub.so.0
#
# Included by the top Makefile, or alone: make -f lib/lib.mk
# Another build of it: make -f lib/lib.mk BUILD=build/asan SAN=address,undefined

BUILD ?= build
CC ?= cc
CFLAGS ?= -O2 -g

LIB_DIR := $(BUILD)/lib
LIB_SRCS := $(sort $(wildcard lib/src/*.c))
# Pure code that the kernel module compiles as well.
LIB_PURE := kernel/engine.c kernel/schedule.c kernel/slots.c
LIB_LIBS := -lyaml -lpthread
LIB_SAN := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
LIB_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -Wno-sign-compare -Wshadow \
	-Wmissing-prototypes -fno-strict-aliasing \
	-ffp-contract=off -fPIC -fvisibility=hidden -D_GNU_SOURCE \
	-Ilib/include -Ilib/src -Ikernel -Ikernel/include/uapi $(LIB_SAN)

LIB_OBJS := $(LIB_SRCS:lib/src/%.c=$(LIB_DIR)/%.o) \
	$(LIB_PURE:kernel/%.c=$(LIB_DIR)/pure-%.o)

.PHONY: lib
lib: $(LIB_DIR)/libub.a $(LIB_DIR)/libub.so.0

$(LIB_DIR):
	mkdir -p $@

$(LIB_DIR)/%.o: lib/src/%.c lib/lib.mk | $(LIB_DIR)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB_DIR)/pure-%.o: kernel/%.c lib/lib.mk | $(LIB_DIR)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

# Loops over many elements.
$(LIB_DIR)/coll_op.o: LIB_CFLAGS += -O3

$(LIB_DIR)/libub.a: $(LIB_OBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(LIB_DIR)/libub.so.0: $(LIB_OBJS) lib/libub.map
	$(CC) $(CFLAGS) $(LIB_SAN) $(LDFLAGS) -shared -Wl,-soname,libub.so.0 \
		-Wl,--version-script=lib/libub.map \
		$(if $(SAN),,-Wl,--no-undefined) -o $@ $(LIB_OBJS) $(LIB_LIBS)
	ln -sf libub.so.0 $(LIB_DIR)/libub.so

-include $(LIB_OBJS:.o=.d)
