# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/peers/ubperf-*: ubperf's tests on other libraries, for "make
# bench" alone. Not included by the Makefile at the top, but called from there:
# make -f tools/ubperf/peers/peers.mk [openmpi mpich pthread bsp]

BUILD ?= build

include tools/ubperf/ubperf.mk

PEERS_DIR := tools/ubperf/peers
PEERS_OUT := $(BUILD)/peers
PEERS_CFLAGS := $(UBPERF_CFLAGS) -I$(UBPERF_DIR)

# What is ubperf's, and has no rank's library in it.
PEERS_SHARED := $(PEERS_OUT)/peer.o \
		$(patsubst %,$(UBPERF_OBJ)/%.o,opts util pattern run report) \
		$(LIB_DIR)/libub.a

.DEFAULT_GOAL := peers
.PHONY: peers openmpi mpich pthread bsp
peers: openmpi mpich pthread $(if $(wildcard lib/include/bsp.h),bsp)
openmpi mpich pthread bsp: %: $(PEERS_OUT)/ubperf-%

$(PEERS_OUT)/ubperf-openmpi $(PEERS_OUT)/ubperf-mpich: $(PEERS_OUT)/ubperf-%: \
		$(PEERS_OUT)/%.o $(PEERS_SHARED)
	mpicc.$* -o $@ $^ $(LIB_LIBS) -ljson-c

$(PEERS_OUT)/ubperf-pthread $(PEERS_OUT)/ubperf-bsp: $(PEERS_OUT)/ubperf-%: \
		$(PEERS_OUT)/%.o $(PEERS_SHARED)
	$(CC) -o $@ $^ $(LIB_LIBS) -ljson-c

$(PEERS_OUT)/openmpi.o $(PEERS_OUT)/mpich.o: $(PEERS_OUT)/%.o: $(PEERS_DIR)/mpi.c
	@mkdir -p $(@D)
	mpicc.$* $(PEERS_CFLAGS) -DPEER_NAME='"$*"' -c -o $@ $<

$(PEERS_OUT)/peer.o $(PEERS_OUT)/pthread.o $(PEERS_OUT)/bsp.o: $(PEERS_OUT)/%.o: $(PEERS_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(PEERS_CFLAGS) -c -o $@ $<

-include $(wildcard $(PEERS_OUT)/*.d)
